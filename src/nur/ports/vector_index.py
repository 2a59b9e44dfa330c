"""VectorIndex: a derived index of chunk vectors, which can always be rebuilt. IndexMarks: which chunks it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from nur.domain.filters import NoteFilter
    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.ports.chunks import ChunkWithNote
    from nur.ports.embedder import Floats


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """One chunk as stored in an index."""

    chunk_key: ChunkKey
    chunk_id: str  #: public id of the chunk; the note's own id if it has only one chunk
    chunk_index: int
    start_char: int
    end_char: int
    token_count: int
    content: str
    content_hash: str
    vector: Floats


@dataclass(frozen=True, slots=True)
class IndexOp:
    """All records of one note at one revision. Without records it removes the note."""

    note_id: NoteId
    revision: int
    note: Note | None = None  #: None only in a removal
    records: Sequence[IndexRecord] = ()
    pooled: Floats | None = None  #: the note's pooled vector, if it has several chunks


def newest(ops: Iterable[IndexOp]) -> list[IndexOp]:
    """The operation with the highest revision of each note; of equal ones the last."""
    return list({op.note_id: op for op in sorted(ops, key=lambda op: op.revision)}.values())


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A chunk near the query."""

    chunk_key: ChunkKey
    note_id: NoteId
    similarity: float  #: cosine, -1 to 1


@dataclass(frozen=True, slots=True)
class IndexHealth:
    """Result of a health check."""

    healthy: bool
    latency_ms: int
    error: str | None = None


class VectorIndex(Protocol):
    """Finds the chunks nearest to a vector, among notes that match a filter."""

    @property
    def name(self) -> str:
        """`flat`, `chroma` and so on."""
        ...

    @property
    def follows_commits(self) -> bool:
        """Whether `apply` is instant and in process, so that a write needs no outbox row."""
        ...

    @property
    def is_in_store(self) -> bool:
        """Whether it searches the store's own vectors, so that it finds each one from its commit on."""
        ...

    async def open(self) -> None:
        """Prepare the index. Raises StoreForeign if it belongs to another store, IndexDown if it is unreachable."""
        ...

    async def close(self) -> None:
        """Close the index; one that has files records a clean shutdown."""
        ...

    async def apply(self, ops: Sequence[IndexOp]) -> None:
        """Apply idempotently: an older revision never overwrites a newer one. Raises IndexDown; safe to retry."""
        ...

    async def query(self, vector: Floats, where: NoteFilter, limit: int) -> list[Neighbour]:
        """Return the nearest chunks that match the filter, nearest first. May be stale: callers check the store."""
        ...

    async def count(self) -> int:
        """Count the chunks that have a record."""
        ...

    async def was_closed_cleanly(self) -> bool:
        """Whether the last process closed it; True for an index without files."""
        ...

    async def reset(self) -> None:
        """Delete all records of this store and nothing else."""
        ...

    async def scrub(self) -> None:
        """Overwrite the bytes of removed records in this store's files. Raises IndexDown; safe to retry."""
        ...

    async def health(self) -> IndexHealth:
        """Check that the index responds. Never raises."""
        ...


@runtime_checkable
class SparseIndex(Protocol):
    """A vector index that also has a sparse (BM25) vector per chunk."""

    async def by_words(self, terms: Sequence[str], where: NoteFilter, limit: int) -> list[Neighbour]:
        """Return chunks that match the filter and contain any of the terms, best first by BM25. May be stale.

        Terms are those of the lexical rows. Raises IndexDown.
        """
        ...


class IndexMarks(Protocol):
    """The store's record of which chunks are indexed; `Outbox.finish` adds to it. Every method is one transaction."""

    async def is_indexed(self, note_id: NoteId) -> bool:
        """Whether every chunk of the note is indexed at its revision; True for a note without chunks."""
        ...

    async def mark_all(self, embedding_version: str, now: datetime) -> int:
        """Mark every chunk with a vector as indexed, and close the jobs of notes that are complete.

        Returns how many chunks are indexed.
        """
        ...

    async def clear(self, now: datetime) -> int:
        """Mark nothing as indexed and queue every note, oldest first. Returns how many were queued."""
        ...

    async def count(self, embedding_version: str) -> int:
        """Count the chunks that the index should have."""
        ...

    async def sample(self, embedding_version: str, limit: int, now: datetime) -> list[ChunkWithNote]:
        """Return random chunks that a query should find; those of expired notes are left out."""
        ...
