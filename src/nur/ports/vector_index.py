"""VectorIndex: a derived index of chunk vectors. Losing one loses nothing. IndexMarks: which chunks it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from nur.domain.filters import NoteFilter
    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.ports.chunks import ChunkWithNote
    from nur.ports.embedder import Floats


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """One chunk as an index keeps it."""

    chunk_key: ChunkKey
    chunk_id: str  #: public id of the chunk; of the note itself when the note is whole
    chunk_index: int
    start_char: int
    end_char: int
    token_count: int
    content: str
    content_hash: str
    vector: Floats


@dataclass(frozen=True, slots=True)
class IndexOp:
    """All records of one note at one revision. No records: the note is gone."""

    note_id: NoteId
    revision: int
    note: Note | None = None  #: None only in a removal
    records: Sequence[IndexRecord] = ()
    pooled: Floats | None = None  #: the note's own vector, for a cut note


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A chunk near the query."""

    chunk_key: ChunkKey
    note_id: NoteId
    similarity: float  #: cosine, -1 to 1


@dataclass(frozen=True, slots=True)
class IndexHealth:
    """Whether the index answers, and how fast."""

    healthy: bool
    latency_ms: int
    error: str | None = None


class VectorIndex(Protocol):
    """Finds the chunks nearest to a vector, within a selection."""

    @property
    def name(self) -> str:
        """`flat`, `chroma` and so on."""
        ...

    @property
    def follows_commits(self) -> bool:
        """Whether `apply` is instant and in process, so that a write needs no outbox row."""
        ...

    async def open(self) -> None:
        """Get ready to answer. Raises StoreForeign for an index that is not this store's, IndexDown if unreachable."""
        ...

    async def close(self) -> None:
        """Leave a clean-shutdown mark where the index keeps files."""
        ...

    async def apply(self, ops: Sequence[IndexOp]) -> None:
        """Apply idempotently: an older revision never overwrites a newer one. Raises IndexDown; then ask again."""
        ...

    async def query(self, vector: Floats, where: NoteFilter, limit: int) -> list[Neighbour]:
        """The nearest chunks that pass the filter, nearest first. May be stale: the store decides what is shown."""
        ...

    async def count(self) -> int:
        """How many chunks have a record."""
        ...

    async def was_closed_cleanly(self) -> bool:
        """Whether the last owner closed it; True for an index without files."""
        ...

    async def reset(self) -> None:
        """Forget everything of this store, nothing else."""
        ...

    async def scrub(self) -> None:
        """Leave no bytes of removed records in files of this store's folder. Raises IndexDown; then ask again."""
        ...

    async def health(self) -> IndexHealth:
        """Ask for a sign of life. Never raises."""
        ...


@runtime_checkable
class SparseIndex(Protocol):
    """A vector index that has a second vector per chunk, of the words in it."""

    async def by_words(self, terms: Sequence[str], where: NoteFilter, limit: int) -> list[Neighbour]:
        """The chunks that pass the filter and contain any of the terms, best first by BM25. May be stale.

        A term is a word of a lexical row. Raises IndexDown.
        """
        ...


class IndexMarks(Protocol):
    """The store's record of what the index holds; `Outbox.finish` adds to it. Every method is one transaction."""

    async def is_indexed(self, note_id: NoteId) -> bool:
        """Whether the index holds every chunk of the note at its revision; True for a note without chunks."""
        ...

    async def mark_all(self, embedding_version: str, now: datetime) -> int:
        """Record that the index holds every chunk with a vector, and close the outbox rows of complete notes.

        Returns how many chunks the index holds.
        """
        ...

    async def clear(self, now: datetime) -> int:
        """Record that the index holds nothing, queue every note, oldest first, and return how many there are."""
        ...

    async def count(self, embedding_version: str) -> int:
        """How many chunks the index should hold."""
        ...

    async def sample(self, embedding_version: str, limit: int, now: datetime) -> list[ChunkWithNote]:
        """Random chunks that the index should hold and show; those of expired notes are left out."""
        ...
