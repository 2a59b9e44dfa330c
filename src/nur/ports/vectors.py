"""VectorStore: the vectors of chunks and notes, per embedding version. Indexes are built from them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from nur.domain.chunks import StoredChunk
    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.ports.chunks import ChunkWithNote
    from nur.ports.embedder import Floats

#: For a model that embeds whole chunks.
NO_PIECES: Mapping[ChunkKey, bytes] = MappingProxyType({})


class VectorStore(Protocol):
    """Stored vectors. Every method is one transaction."""

    async def of_chunks(self, keys: Sequence[ChunkKey], embedding_version: str) -> dict[ChunkKey, Floats]:
        """Vectors of chunks; a chunk without one is left out."""
        ...

    async def of_notes(self, note_ids: Sequence[NoteId], embedding_version: str) -> dict[NoteId, Floats]:
        """Pooled vectors of notes; a note without one is left out."""
        ...

    async def missing(self, note_id: NoteId, embedding_version: str) -> list[StoredChunk]:
        """A note's chunks that have no vector of this version, with their pieces and their note's text."""
        ...

    async def attach(
        self,
        note: Note,
        vectors: Mapping[ChunkKey, Floats],
        pooled: Floats | None,
        embedding_version: str,
        now: datetime,
        *,
        pieces: Mapping[ChunkKey, bytes] = NO_PIECES,
    ) -> None:
        """Add vectors to the note's chunks; existing ones stay. Raises Conflict when those chunks are gone.

        `pieces` has the vectors of each chunk's pieces, where the model embeds them.

        A change of metadata alone leaves the chunks: their vectors are kept. Without vectors the revision must match.
        """
        ...

    async def page(
        self, embedding_version: str, after: ChunkKey, limit: int, now: datetime
    ) -> list[tuple[ChunkWithNote, Floats]]:
        """Active chunks that have a vector, by key, for reading the whole store in order."""
        ...

    async def count_missing(self, embedding_version: str) -> int:
        """How many chunks have no vector of this version."""
        ...

    async def versions(self) -> dict[str, int]:
        """How many chunk vectors there are of each embedding version."""
        ...

    async def switch(self, embedding_version: str, now: datetime) -> None:
        """Activate this embedding version, clear a pending switch and queue every note for indexing, atomically."""
        ...

    async def queue_missing(self, embedding_version: str, now: datetime) -> int:
        """Queue every note that lacks a vector of this version and does not wait already; returns how many."""
        ...

    async def drop(self, embedding_version: str) -> int:
        """Delete all vectors of a version and return how many chunk vectors there were."""
        ...
