"""Bring the vector index to a note's current state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.chunks import chunk_public_id
from nur.domain.notes import Status
from nur.ports.vector_index import IndexOp, IndexRecord
from nur.retrieval.pieces.vectors import pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.chunks import Chunk
    from nur.domain.notes import ChunkKey, Note
    from nur.ports.chunks import ChunkStore
    from nur.ports.embedder import Floats
    from nur.ports.vector_index import VectorIndex
    from nur.ports.vectors import VectorStore


@dataclass(frozen=True, slots=True)
class IndexNote:
    """Applies a note's stored chunks and vectors to the index."""

    chunks: ChunkStore
    vectors: VectorStore
    index: VectorIndex
    embedding_version: str

    async def __call__(self, note: Note) -> None:
        """Apply the note as it is; a deleted one is removed. Raises IndexDown."""
        await self.index.apply([await self.operation(note)])

    async def operation(self, note: Note) -> IndexOp:
        """The operation that brings the index to the note's current state."""
        if note.status is not Status.ACTIVE:
            return removal(note)
        stored = await self.chunks.of_note(note.note_id)
        vectors = await self.vectors.of_chunks([one.chunk_key for one in stored], self.embedding_version)
        ready = [
            record(note, one.chunk_key, one.chunk, one.content_hash, vectors[one.chunk_key])
            for one in stored
            if one.chunk_key in vectors
        ]
        return operation(note, ready)


def removal(note: Note) -> IndexOp:
    """Remove everything of this note."""
    return IndexOp(note.note_id, note.revision)


def operation(note: Note, records: Sequence[IndexRecord]) -> IndexOp:
    """All chunks of a note as one operation on the index."""
    pooled = pool([one.vector for one in records]) if len(records) > 1 else None
    return IndexOp(note.note_id, note.revision, note, records, pooled)


def record(note: Note, chunk_key: ChunkKey, chunk: Chunk, content_hash: str, vector: Floats) -> IndexRecord:
    """One chunk as an index stores it; the only chunk of a note has the note's own id."""
    name = chunk_public_id(note.public_id, chunk.index, content_hash) if note.is_chunked else note.public_id
    return IndexRecord(
        chunk_key=chunk_key,
        chunk_id=name,
        chunk_index=chunk.index,
        start_char=chunk.start_char,
        end_char=chunk.end_char,
        token_count=chunk.token_count,
        content=chunk.content,
        content_hash=content_hash,
        vector=vector,
    )
