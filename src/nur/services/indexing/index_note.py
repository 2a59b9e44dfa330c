"""Bring the vector index to a note's present state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.chunks import chunk_public_id
from nur.domain.notes import Status
from nur.ports.vector_index import IndexOp, IndexRecord
from nur.retrieval.pooling import pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.chunks import Chunk
    from nur.domain.notes import ChunkKey, Note
    from nur.ports.embedder import Floats
    from nur.ports.ledger import Ledger
    from nur.ports.vector_index import VectorIndex


async def index_note(ledger: Ledger, index: VectorIndex, note: Note, embedding_version: str) -> None:
    """Read the note's chunks and vectors from the ledger and apply them as one operation."""
    if note.status is not Status.ACTIVE:
        await index.apply([removal(note)])
        return
    chunks = await ledger.chunks(note.note_id)
    vectors = await ledger.vectors([stored.chunk_key for stored in chunks], embedding_version)
    ready = [stored for stored in chunks if stored.chunk_key in vectors]
    op = records(
        note,
        [stored.chunk for stored in ready],
        [stored.chunk_key for stored in ready],
        [vectors[stored.chunk_key] for stored in ready],
    )
    await index.apply([op])


def removal(note: Note) -> IndexOp:
    """Everything of this note is to go."""
    return IndexOp(note.note_id, note.revision)


def records(note: Note, chunks: Sequence[Chunk], keys: Sequence[ChunkKey], vectors: Sequence[Floats]) -> IndexOp:
    """A note's chunks and vectors as one operation on the index."""
    found = [record(note, chunk, key, vector) for chunk, key, vector in zip(chunks, keys, vectors, strict=True)]
    return IndexOp(note.note_id, note.revision, note, found, pool(vectors) if len(found) > 1 else None)


def record(note: Note, chunk: Chunk, key: ChunkKey, vector: Floats) -> IndexRecord:
    """One chunk as an index keeps it; a whole note's only chunk goes by the note's own id."""
    content_hash = chunk.content_hash
    return IndexRecord(
        chunk_key=key,
        chunk_id=chunk_public_id(note.public_id, chunk.index, content_hash) if note.is_chunked else note.public_id,
        chunk_index=chunk.index,
        start_char=chunk.start_char,
        end_char=chunk.end_char,
        token_count=chunk.token_count,
        content=chunk.content,
        content_hash=content_hash,
        vector=vector,
    )
