"""NoteStore: notes, their texts and versions. The truth; everything else is derived from it.

Beside it, two readings of the same rows: ConversationStore, the conversations that turns belong to, and ChangeLog,
what happened to notes in an order that never changes afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from nur.domain.filters import Facet, Order

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from nur.domain.access import WriteContext
    from nur.domain.changes import Change
    from nur.domain.chunks import Chunk
    from nur.domain.conversations import Conversation
    from nur.domain.derivations import Derivation
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.ports.decisions import FoundPair, MemoryComparison
    from nur.ports.embedder import Floats


#: Previous texts kept of each note.
VERSIONS_KEPT = 20


@dataclass(frozen=True, slots=True)
class PageCursor:
    """Where a page ended. It holds even when the note there is changed or deleted afterwards."""

    at: datetime  #: when the note there was stored, said (order SAID) or deleted (in the trash)
    note_id: NoteId


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChunk:
    """A chunk to write, with everything that is stored with it."""

    chunk: Chunk
    content_hash: str
    terms: Sequence[str]  #: the lexical row of each piece: analysed terms, in lower case, separated by spaces
    term_count: int
    pieces: bytes  #: what scoring reads (`retrieval.pieces.stored`)
    atoms: bytes = b""  #: what passages read
    piece_vectors: bytes = b""  #: one per piece, of the packaged model
    digest: bytes = b""  #: equal for chunks with the same terms
    words: Mapping[int, str] = field(default_factory=dict)  #: a word of each term, to find words like it
    vector: Floats | None = None  #: None: to be embedded later
    model_vectors: bytes = b""  #: of its pieces, by the same model, where that embeds pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteWrite:
    """One write: either all of it is committed or nothing."""

    note: Note  #: the note after the write
    replaces: int | None  #: the revision it builds on; None for a new note
    text: str | None = None  #: None: text and chunks stay as they are
    chunks: Sequence[NewChunk] = ()
    pooled: Floats | None = None
    embedding_version: str = ""
    derived: Sequence[Derivation] = ()
    is_derived: bool = False  #: every deriver's rows are in `derived`; else the worker is to derive the text
    indexed: bool = False  #: the index follows commits and every chunk has its vector: no outbox row is needed
    action: str = "store"  #: for the audit log
    comparison: MemoryComparison | None = None  #: what to suggest for review with it; only with a text


@dataclass(frozen=True, slots=True)
class Written:
    """What a write made."""

    chunk_keys: Sequence[ChunkKey]  #: of the new chunks, in order
    similar: Sequence[FoundPair] = ()  #: what its comparison found, the best first


class NoteStore(Protocol):
    """The notes of all tenants. Every method is one transaction; a write that returned is committed and synced."""

    async def write(self, write: NoteWrite, context: WriteContext) -> Written:
        """Commit one write, with what its comparison suggests.

        Raises Conflict when the note is no longer at `replaces`, or an identity or public id is taken.
        """
        ...

    async def remove(self, note: Note, context: WriteContext, *, action: str, indexed: bool) -> Note:
        """Move a note to the trash and delete everything derived from it. Raises Conflict."""
        ...

    async def purge(self, note: Note, context: WriteContext, *, indexed: bool) -> None:
        """Erase a note for good, with its versions and the traces that returned it.

        Raises Conflict when it is at another revision.
        """
        ...

    async def get(self, tenant: str, public_id: str) -> Note | None:
        """A note by its public id, in the trash or not."""
        ...

    async def by_identity(self, tenant: str, identity: str) -> Note | None:
        """The active note with this identity, else the one deleted last."""
        ...

    async def by_ids(self, note_ids: Sequence[NoteId]) -> dict[NoteId, Note]:
        """Notes by their internal ids; unknown ones are left out."""
        ...

    async def page(
        self,
        where: NoteFilter,
        now: datetime,
        *,
        limit: int,
        order: Order = Order.NEWEST,
        after: str | PageCursor | int | None = None,
        containing: str | None = None,
    ) -> list[Note]:
        """A page of active notes, only those whose title or text contains a text; ASCII letters match in either case.

        `after` is the last one seen: by public id, by cursor (not LAST_TURNS), or by turn index (LAST_TURNS only).
        """
        ...

    async def count(self, where: NoteFilter, now: datetime, by: Facet = Facet.KIND) -> dict[str, int]:
        """How many active notes match, by kind or project; those without any are left out."""
        ...

    async def texts(
        self, note_ids: Sequence[NoteId], characters: int | None = None, start: int = 0
    ) -> dict[NoteId, str]:
        """The texts of notes from `start` on, all or so many characters of them."""
        ...

    async def all(self, after: NoteId | None, limit: int) -> list[Note]:
        """A page of the active notes of every tenant, by internal id; expired ones too."""
        ...

    async def expired(self, now: datetime, limit: int) -> list[Note]:
        """Active notes past their expiry."""
        ...

    async def trash(
        self, before: datetime, limit: int, *, tenant: str | None = None, after: PageCursor | None = None
    ) -> list[Note]:
        """Notes deleted before then, oldest first; of one tenant, else of all."""
        ...


@dataclass(frozen=True, slots=True)
class ConversationCursor:
    """Where a page of conversations ended."""

    last_at: datetime
    conversation_id: str


class ConversationStore(Protocol):
    """Conversations, read from their turns."""

    async def page(
        self,
        where: NoteFilter,
        now: datetime,
        *,
        limit: int,
        after: ConversationCursor | None = None,
        characters: int,
    ) -> list[Conversation]:
        """Conversations with turns that match, latest first, each with the first characters of its first turn."""
        ...


class ChangeLog(Protocol):
    """Changes of all tenants, recorded in the transaction that makes them."""

    async def settled(self, tenant: str, after: int) -> int:
        """The last position up to which everything is committed; `after` itself when nothing came behind it.

        A change that is committed later has a higher position, so a reader that stops here skips nothing.
        """
        ...

    async def page(
        self,
        tenant: str,
        after: int,
        last: int,
        *,
        limit: int,
        since: datetime | None = None,
        until: datetime | None = None,
        newest_first: bool = False,
    ) -> list[Change]:
        """Changes behind `after` and up to `last`, in their order or the latest first; `since` ≤ at < `until`."""
        ...

    async def texts(self, versions: Collection[tuple[NoteId, int]], characters: int) -> dict[tuple[NoteId, int], str]:
        """The first characters of texts that notes had, by note and version; those no longer kept are left out."""
        ...
