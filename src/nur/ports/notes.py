"""NoteStore: notes, their texts and versions. The source of truth; everything else is derived from it.

Two views of the same rows: ConversationStore lists conversations, ChangeLog lists changes in commit order.
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


#: Number of previous texts kept per note.
VERSIONS_KEPT = 20


@dataclass(frozen=True, slots=True)
class PageCursor:
    """Where a page ended. It stays valid if that note is changed or deleted afterwards."""

    at: datetime  #: when the last note was stored, said (order SAID) or deleted (trash)
    note_id: NoteId


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChunk:
    """A chunk to write, with everything stored with it."""

    chunk: Chunk
    content_hash: str
    terms: Sequence[str]  #: lexical row of each piece: analysed lower-case terms, separated by spaces
    term_count: int
    pieces: bytes  #: encoded pieces for scoring (`retrieval.pieces.stored`)
    atoms: bytes = b""  #: encoded atoms for passage extraction
    piece_vectors: bytes = b""  #: one vector per piece, by the packaged model
    digest: bytes = b""  #: equal for chunks with the same terms
    words: Mapping[int, str] = field(default_factory=dict)  #: one word per term, to find similar words by
    vector: Floats | None = None  #: None: embedded later
    model_vectors: bytes = b""  #: one vector per piece, by the model of `vector`, if it embeds pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteWrite:
    """One atomic write."""

    note: Note  #: the note after the write
    replaces: int | None  #: the revision it replaces; None for a new note
    text: str | None = None  #: None: text and chunks do not change
    chunks: Sequence[NewChunk] = ()
    pooled: Floats | None = None
    embedding_version: str = ""
    derived: Sequence[Derivation] = ()
    is_derived: bool = False  #: `derived` has every deriver's rows; False: the worker derives them
    indexed: bool = False  #: the index follows commits and every chunk has a vector: no outbox row is needed
    action: str = "store"  #: for the audit log
    comparison: MemoryComparison | None = None  #: finds memories to review with this one; only with a text


@dataclass(frozen=True, slots=True)
class Written:
    """Result of a write."""

    chunk_keys: Sequence[ChunkKey]  #: keys of the new chunks, in order
    similar: Sequence[FoundPair] = ()  #: results of the comparison, best first


class NoteStore(Protocol):
    """The notes of all tenants. Every method is one transaction; a write that returned is committed and synced."""

    async def write(self, write: NoteWrite, context: WriteContext) -> Written:
        """Commit one write, with the suggestions of its comparison.

        Raises Conflict if the note is no longer at revision `replaces`, or its identity or public id is taken.
        """
        ...

    async def remove(self, note: Note, context: WriteContext, *, action: str, indexed: bool) -> Note:
        """Move a note to the trash and delete everything derived from it. Raises Conflict."""
        ...

    async def purge(self, note: Note, context: WriteContext, *, indexed: bool) -> None:
        """Erase a note for good, with its versions and the traces that returned it.

        Raises Conflict if it is at another revision.
        """
        ...

    async def get(self, tenant: str, public_id: str) -> Note | None:
        """Return a note by its public id, active or in the trash."""
        ...

    async def by_identity(self, tenant: str, identity: str) -> Note | None:
        """Return the active note with this identity, else the most recently deleted one."""
        ...

    async def by_ids(self, note_ids: Sequence[NoteId]) -> dict[NoteId, Note]:
        """Return notes by internal id; unknown ids are left out."""
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
        """Return a page of active notes. `containing` must occur in the title or text, ignoring ASCII case.

        `after` names the last note seen: by public id, by cursor (not LAST_TURNS) or by turn index (LAST_TURNS only).
        """
        ...

    async def count(self, where: NoteFilter, now: datetime, by: Facet = Facet.KIND) -> dict[str, int]:
        """Count matching active notes by kind or project; zero counts are left out."""
        ...

    async def texts(
        self, note_ids: Sequence[NoteId], characters: int | None = None, start: int = 0
    ) -> dict[NoteId, str]:
        """Return the texts of notes from offset `start`, at most `characters` of each."""
        ...

    async def all(self, after: NoteId | None, limit: int) -> list[Note]:
        """Return a page of every tenant's active notes, ordered by internal id; expired notes included."""
        ...

    async def expired(self, now: datetime, limit: int) -> list[Note]:
        """Return active notes past their expiry."""
        ...

    async def trash(
        self, before: datetime, limit: int, *, tenant: str | None = None, after: PageCursor | None = None
    ) -> list[Note]:
        """Return notes deleted before a time, oldest first; of one tenant, or of all."""
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
        """Return conversations with matching turns, latest first; `opening` has at most `characters`."""
        ...


class ChangeLog(Protocol):
    """Changes of all tenants, each recorded in the transaction that makes it."""

    async def settled(self, tenant: str, after: int) -> int:
        """Return the last position up to which everything is committed; `after` if there is nothing new.

        Later commits get higher positions, so a reader that stops here misses nothing.
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
        """Return changes with `after` < position ≤ `last` and `since` ≤ time < `until`, in order of position."""
        ...

    async def texts(self, versions: Collection[tuple[NoteId, int]], characters: int) -> dict[tuple[NoteId, int], str]:
        """Return the first characters of these note versions; versions no longer kept are left out."""
        ...
