"""Ledger: the truth. Everything else is derived from it and can be lost."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from nur.domain.notes import Kind
from nur.ports.desk import Desk
from nur.ports.upkeep import Job, Upkeep

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from nur.domain.chunks import Chunk
    from nur.domain.notes import ChunkKey, Note, NoteId, Visibility
    from nur.domain.selection import Selection
    from nur.domain.traces import Trace, TraceItem
    from nur.ports.embedder import Floats

__all__ = ["Job"]  # named here too: leasing and finishing speak of it

#: Former texts kept of each note.
VERSIONS_KEPT = 20
#: Characters that are seen of a text at a glance: a speaker's name and the colon behind it stand there.
OPENING = 64


class Order(StrEnum):
    """How a listing is ordered."""

    NEWEST = "newest"  #: last stored first
    LAST_TURNS = "last_turns"  #: highest turn first, what is no turn at the end


@dataclass(frozen=True, slots=True)
class Place:
    """Where a listing stopped: holds even when the note there is changed or gone meanwhile."""

    ingested_at: datetime
    note_id: NoteId


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChunk:
    """A chunk to write, with everything that is stored beside it."""

    chunk: Chunk
    terms: str  #: its lexical row: analysed terms, in lower case, with spaces between
    term_count: int
    profile: bytes  #: what scoring needs of it (`retrieval.profiles`)
    sentences: bytes = b""  #: what passages need of it (`retrieval.sentence_maps`)
    vector: Floats | None = None  #: None: to be embedded later


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteWrite:
    """One write, whole: either all of it is committed or none."""

    note: Note  #: as it shall be
    replaces: int | None  #: the revision it builds on; None for a note that is new
    text: str | None = None  #: None: text and chunks stay as they are
    chunks: Sequence[NewChunk] = ()
    pooled: Floats | None = None
    embedding_version: str = ""
    indexed: bool = False  #: the index follows commits and every chunk has its vector: no outbox row is needed
    action: str = "store"  #: for the audit log
    principal: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """What a write left behind."""

    note: Note
    chunk_keys: Sequence[ChunkKey]  #: of the chunks written, in order; empty when the text stayed


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A chunk as it stands in the ledger."""

    chunk_key: ChunkKey
    note_id: NoteId
    chunk: Chunk
    content_hash: str
    profile: bytes
    has_vector: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk that may be shown, re-read with its note."""

    stored: StoredChunk
    note: Note
    sentences: bytes = b""  #: what passages need of it; only `candidates` reads this


class Glance(NamedTuple):
    """A chunk as ranking sees it: its terms and its place, but no text. A search looks at hundreds and shows five."""

    chunk_key: ChunkKey
    chunk_index: int
    content_hash: str
    characters: int
    profile: bytes
    opening: str  #: its first characters, where a speaker is named
    note_id: NoteId
    public_id: str
    tenant: str
    owner: str
    visibility: Visibility
    kind: Kind
    chunk_count: int
    heading: bytes
    role: str | None
    conversation_id: str | None
    turn_index: int | None

    @classmethod
    def of(cls, stored: StoredChunk, note: Note) -> Glance:
        """What is seen at a glance of a chunk that was read whole."""
        return cls(
            chunk_key=stored.chunk_key,
            chunk_index=stored.chunk.index,
            content_hash=stored.content_hash,
            characters=len(stored.chunk.content),
            profile=stored.profile,
            opening=stored.chunk.content[:OPENING],
            note_id=note.note_id,
            public_id=note.public_id,
            tenant=note.tenant,
            owner=note.owner,
            visibility=note.about.visibility,
            kind=note.kind,
            chunk_count=note.chunk_count,
            heading=note.heading,
            role=note.about.role,
            conversation_id=note.about.conversation_id,
            turn_index=note.about.turn_index,
        )

    @property
    def is_chunked(self) -> bool:
        """Whether its note was cut."""
        return self.chunk_count > 1

    @property
    def place(self) -> tuple[str, int] | None:
        """Where a turn stands in its conversation; None for everything else."""
        if self.kind is not Kind.TURN or self.conversation_id is None or self.turn_index is None:
            return None
        return self.conversation_id, self.turn_index


@dataclass(frozen=True, slots=True)
class Lexical:
    """A chunk found by its words."""

    chunk_key: ChunkKey
    score: float  #: BM25, higher is better


class Frequency(NamedTuple):
    """How common a term is."""

    chunks: int  #: that hold it
    occurrences: int


UNKNOWN = Frequency(0, 0)


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is stored, counted in chunks: the statistics behind idf and length."""

    chunks: int
    terms: int  #: all terms of all chunks
    frequencies: Mapping[str, Frequency]  #: of the terms asked for; unknown ones are left out

    @property
    def average_length(self) -> float:
        """Terms in an average chunk."""
        return self.terms / self.chunks if self.chunks else 0.0


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits to be indexed."""

    pending: int
    dead: int
    oldest_seconds: float
    last_error: str | None  #: of a dead letter, where there is one; else of what is tried again


class Ledger(Upkeep, Desk, Protocol):
    """The store of record. Every method is one transaction; a returned write is committed and fsynced."""

    async def open(self) -> None:
        """Open or create the store. Raises DataFolderInUse, StoreNewer, StoreForeign, StoreDamaged."""
        ...

    async def close(self) -> None:
        """Finish what is queued and let go."""
        ...

    async def ping(self) -> None:
        """Read something. Raises StoreDown."""
        ...

    async def fact(self, name: str) -> str | None:
        """One of the store's own facts: store_id, embedding_version, analyzer_version and the like."""
        ...

    async def settle(self, name: str, value: str) -> str:
        """Set a fact unless it is set already; gives back the one that holds."""
        ...

    async def set_fact(self, name: str, value: str) -> None:
        """Set a fact, whatever it was."""
        ...

    async def write(self, write: NoteWrite) -> Written:
        """Commit one write. Raises Conflict when `replaces` no longer holds, or an identity or public id is taken."""
        ...

    async def remove(self, note: Note, *, action: str, principal: str, indexed: bool) -> Note:
        """Move a note to the trash: its chunks, vectors and lexical rows go at once. Raises Conflict."""
        ...

    async def note(self, tenant: str, public_id: str) -> Note | None:
        """A note by its public id, in the trash or not."""
        ...

    async def by_identity(self, tenant: str, identity: str) -> Note | None:
        """The active note with this identity, else the one last deleted."""
        ...

    async def by_ids(self, note_ids: Sequence[NoteId]) -> dict[NoteId, Note]:
        """Notes by their internal ids."""
        ...

    async def notes(
        self, selection: Selection, *, order: Order = Order.NEWEST, limit: int, after: str | Place | None = None
    ) -> list[Note]:
        """A page of active notes; `after` is the last one seen, by public id or (NEWEST alone) by its place."""
        ...

    async def count(self, selection: Selection) -> int:
        """How many active notes are selected."""
        ...

    async def texts(self, note_ids: Sequence[NoteId]) -> dict[NoteId, str]:
        """The full texts of notes."""
        ...

    async def chunks(self, note_id: NoteId) -> list[StoredChunk]:
        """A note's chunks, in order."""
        ...

    async def vectors(self, keys: Sequence[ChunkKey], embedding_version: str) -> dict[ChunkKey, Floats]:
        """Stored vectors; a chunk without one is left out."""
        ...

    async def lexical(self, terms: Sequence[str], selection: Selection, limit: int) -> list[Lexical]:
        """Chunks that hold any of the terms, best first."""
        ...

    async def corpus(self, terms: Sequence[str]) -> Corpus:
        """Statistics of what is stored, for these terms."""
        ...

    async def unindexed(
        self, selection: Selection, embedding_version: str, limit: int
    ) -> tuple[list[ChunkKey], Floats]:
        """Chunks whose index record is not at their note's revision, with their vectors."""
        ...

    async def glances(self, keys: Sequence[ChunkKey], selection: Selection) -> list[Glance]:
        """Look at chunks; what is deleted, expired or outside the selection is left out."""
        ...

    async def turns_at(self, places: Collection[tuple[str, int]], selection: Selection) -> list[Glance]:
        """Look at the chunks of the turns at these places (conversation, index), as far as they are selected."""
        ...

    async def candidates(self, keys: Sequence[ChunkKey], selection: Selection) -> list[Candidate]:
        """Re-read chunks with their notes; what is deleted, expired or outside the selection is left out."""
        ...

    async def chunk_range(self, note_id: NoteId, first: int, last: int) -> list[StoredChunk]:
        """A note's chunks from one index to another, both included."""
        ...

    async def missing_vectors(self, note_id: NoteId, embedding_version: str) -> list[StoredChunk]:
        """A note's chunks that have no vector of this version."""
        ...

    async def attach_vectors(
        self,
        note: Note,
        vectors: Mapping[ChunkKey, Floats],
        pooled: Floats | None,
        embedding_version: str,
    ) -> None:
        """Add vectors to the note's chunks; one that is there stays. Raises Conflict when those chunks are gone.

        A change of metadata alone leaves the chunks: their vectors are kept. Without vectors the revision must hold.
        """
        ...

    async def mark_indexed(self, note_id: NoteId, revision: int) -> bool:
        """Say that the index holds this revision; False when the note has moved on."""
        ...

    async def mark_all_unindexed(self, embedding_version: str) -> int:
        """Say that the index holds nothing, and queue every note, the oldest first; gives back how many."""
        ...

    async def sample_indexed(self, embedding_version: str, limit: int) -> list[Candidate]:
        """Chunks that the index should hold and show, drawn at random: those of expired notes are left out."""
        ...

    async def count_indexed(self, embedding_version: str) -> int:
        """How many chunks the index should hold."""
        ...

    async def pages(self, embedding_version: str, after: ChunkKey, limit: int) -> list[Candidate]:
        """Active chunks with a vector, by key, for reading the whole store in order."""
        ...

    async def lease(self, worker: str, limit: int, now: datetime, lease_seconds: float) -> list[Job]:
        """Take jobs that are due, oldest first; nobody else gets them until the lease ends."""
        ...

    async def finish(self, job: Job, now: datetime) -> None:
        """The job is done."""
        ...

    async def postpone(self, job: Job, error: str, retry_at: datetime | None) -> None:
        """The job failed: try again then, or never (None: a dead letter)."""
        ...

    async def backlog(self, now: datetime) -> Backlog:
        """What waits to be indexed."""
        ...

    async def save_traces(self, traces: Sequence[Trace]) -> None:
        """Keep traces of searches; one that is there already stays as it is."""
        ...

    async def trace(self, tenant: str, name: UUID) -> Trace | None:
        """A trace by its own id or by its search's."""
        ...

    async def trace_item(self, tenant: str, item_id: UUID) -> TraceItem | None:
        """One hit of a trace."""
        ...

    async def purge_traces(self, before: datetime) -> int:
        """Let go of traces made before then; gives back how many."""
        ...
