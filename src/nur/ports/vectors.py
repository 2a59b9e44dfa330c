"""VectorStore: vectors of chunks and notes, by embedding version. Vector indexes are built from them."""

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
        """Return vectors of chunks; chunks without one are left out."""
        ...

    async def of_notes(self, note_ids: Sequence[NoteId], embedding_version: str) -> dict[NoteId, Floats]:
        """Return pooled vectors of notes; notes without one are left out."""
        ...

    async def missing(self, note_id: NoteId, embedding_version: str) -> list[StoredChunk]:
        """Return a note's chunks without a vector of this version, with their pieces and the note's text."""
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
        """Add vectors to a note's chunks; existing vectors stay. Raises Conflict if those chunks are gone.

        `pieces` has the vectors of each chunk's pieces, if the model embeds pieces. A newer revision with the same
        chunks is accepted, because only its metadata changed; without `vectors` the revision must match.
        """
        ...

    async def page(
        self, embedding_version: str, after: ChunkKey, limit: int, now: datetime
    ) -> list[tuple[ChunkWithNote, Floats]]:
        """Return active chunks that have a vector, ordered by key, to read the whole store page by page."""
        ...

    async def count_missing(self, embedding_version: str) -> int:
        """Count the chunks without a vector of this version."""
        ...

    async def versions(self) -> dict[str, int]:
        """Count the chunk vectors of each embedding version."""
        ...

    async def switch(self, embedding_version: str, now: datetime) -> None:
        """Activate this embedding version, clear a pending switch and queue every note for indexing, atomically."""
        ...

    async def queue_missing(self, embedding_version: str, now: datetime) -> int:
        """Queue every note that lacks a vector of this version and is not queued yet. Returns how many."""
        ...

    async def drop(self, embedding_version: str) -> int:
        """Delete all vectors of a version. Returns how many chunk vectors were deleted."""
        ...
