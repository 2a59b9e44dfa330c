"""Ledger: the truth. Everything else is derived from it and can be lost."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from nur.ports.desk import Desk
from nur.ports.stored import OPENING, ChunkWithNote, NewChunk, NoteWrite, ScoringView, StoredChunk, Written
from nur.ports.upkeep import Backlog, Job, Upkeep

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from nur.domain.filters import NoteFilter
    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.domain.traces import Trace, TraceItem
    from nur.ports.embedder import Floats

__all__ = [
    "OPENING",
    "UNKNOWN",
    "VERSIONS_KEPT",
    "Backlog",
    "ChunkWithNote",
    "CorpusStatistics",
    "Job",
    "Ledger",
    "LexicalHit",
    "NewChunk",
    "NoteWrite",
    "Order",
    "PageCursor",
    "ScoringView",
    "StoredChunk",
    "TermFrequency",
    "Written",
]

#: Former texts kept of each note.
VERSIONS_KEPT = 20


class Order(StrEnum):
    """How a listing is ordered."""

    NEWEST = "newest"  #: last stored first
    LAST_TURNS = "last_turns"  #: highest turn first, what is no turn at the end


@dataclass(frozen=True, slots=True)
class PageCursor:
    """Where a listing stopped: holds even when the note there is changed or gone meanwhile."""

    ingested_at: datetime
    note_id: NoteId


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """A chunk found by its words."""

    chunk_key: ChunkKey
    score: float  #: BM25, higher is better


class TermFrequency(NamedTuple):
    """How common a term is."""

    chunks: int  #: that hold it
    occurrences: int


UNKNOWN = TermFrequency(0, 0)


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """What is stored, counted in chunks: the statistics behind idf and length."""

    chunks: int
    terms: int  #: all terms of all chunks
    frequencies: Mapping[str, TermFrequency]  #: of the terms asked for; unknown ones are left out

    @property
    def average_length(self) -> float:
        """Terms in an average chunk."""
        return self.terms / self.chunks if self.chunks else 0.0


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

    async def set_if_absent(self, name: str, value: str) -> str:
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
        self, where: NoteFilter, *, order: Order = Order.NEWEST, limit: int, after: str | PageCursor | None = None
    ) -> list[Note]:
        """A page of active notes; `after` is the last one seen, by public id or (NEWEST alone) by its place."""
        ...

    async def count(self, where: NoteFilter) -> int:
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

    async def lexical(self, terms: Sequence[str], where: NoteFilter, limit: int) -> list[LexicalHit]:
        """Chunks that hold any of the terms, best first."""
        ...

    async def corpus(self, terms: Sequence[str]) -> CorpusStatistics:
        """Statistics of what is stored, for these terms."""
        ...

    async def unindexed(self, where: NoteFilter, embedding_version: str, limit: int) -> tuple[list[ChunkKey], Floats]:
        """Chunks whose index record is not at their note's revision, with their vectors."""
        ...

    async def selected_vectors(
        self, where: NoteFilter, embedding_version: str, limit: int
    ) -> tuple[list[ChunkKey], Floats]:
        """Chunks in the selection with their vectors, whatever the index holds."""
        ...

    async def scoring_views(self, keys: Sequence[ChunkKey], where: NoteFilter) -> list[ScoringView]:
        """Look at chunks; what is deleted, expired or outside the selection is left out."""
        ...

    async def turns_near(self, places: Collection[tuple[str, int]], where: NoteFilter) -> list[ScoringView]:
        """Look at the chunks of the turns at these places (conversation, index), as far as they are selected."""
        ...

    async def candidates(self, keys: Sequence[ChunkKey], where: NoteFilter) -> list[ChunkWithNote]:
        """Re-read chunks with their notes; what is deleted, expired or outside the selection is left out."""
        ...

    async def chunk_range(self, note_id: NoteId, first: int, last: int) -> list[StoredChunk]:
        """A note's chunks from one index to another, both included."""
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
