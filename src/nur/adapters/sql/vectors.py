"""SqlVectorStore: the vectors of chunks and notes, per embedding version."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import and_, delete, func, insert, select

from nur.adapters.sql import index_marks, outbox
from nur.adapters.sql.chunks import chunks_of
from nur.adapters.sql.filters import is_current
from nur.adapters.sql.mapping import (
    CHUNK_COLUMNS,
    NOTE_COLUMNS,
    pooled_values,
    records,
    to_chunk_with_note,
    vector_values,
)
from nur.adapters.sql.tables import (
    chunk_pieces,
    indexing_outbox,
    memory_note_chunks,
    memory_notes,
    note_chunk_embeddings,
    note_embeddings,
    store_facts,
)
from nur.domain.errors import Conflict
from nur.domain.notes import ChunkKey, NoteId
from nur.ports.outbox import Task
from nur.ports.store_facts import EMBEDDING_VERSION, NEXT_EMBEDDING_VERSION
from nur.ports.vectors import NO_PIECES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from nur.adapters.sql.runner import Runner
    from nur.domain.chunks import StoredChunk
    from nur.domain.notes import Note
    from nur.ports.chunks import ChunkWithNote
    from nur.ports.embedder import Floats

_chunks = memory_note_chunks.c
_notes = memory_notes.c
_vectors = note_chunk_embeddings.c
_pooled = note_embeddings.c
_pieces = chunk_pieces.c

# Built once: building a statement costs more than running it.
_INSERT_VECTORS = insert(note_chunk_embeddings)
_INSERT_POOLED = insert(note_embeddings)


@dataclass(frozen=True, slots=True)
class SqlVectorStore:
    """Vectors in two tables, of chunks and of notes."""

    run: Runner

    async def of_chunks(self, keys: Sequence[ChunkKey], embedding_version: str) -> dict[ChunkKey, Floats]:
        """Vectors by chunk, without chunks that have none."""
        return await self.run.read(vectors_of, keys, embedding_version)

    async def of_notes(self, note_ids: Sequence[NoteId], embedding_version: str) -> dict[NoteId, Floats]:
        """Pooled vectors by note, without notes that have none."""
        return await self.run.read(_of_notes, note_ids, embedding_version)

    async def missing(self, note_id: NoteId, embedding_version: str) -> list[StoredChunk]:
        """A note's chunks that have no vector of this version, with their pieces and their note's text."""
        return await self.run.read(_missing, note_id, embedding_version)

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
        """Add vectors to the note's chunks; existing ones stay. Raises Conflict when those chunks are gone."""
        await self.run.write(_attach, note, vectors, pooled, embedding_version, now, pieces)

    async def page(
        self, embedding_version: str, after: ChunkKey, limit: int, now: datetime
    ) -> list[tuple[ChunkWithNote, Floats]]:
        """Active chunks that have a vector, by key."""
        return await self.run.read(_page, embedding_version, after, limit, now)

    async def count_missing(self, embedding_version: str) -> int:
        """Number of chunks without a vector of this version."""
        return await self.run.read(_count_missing, embedding_version)

    async def versions(self) -> dict[str, int]:
        """Number of chunk vectors per embedding version."""
        return await self.run.read(_versions)

    async def switch(self, embedding_version: str, now: datetime) -> None:
        """Activate this embedding version, clear a pending switch and queue every note, atomically."""
        await self.run.write(_switch, embedding_version, now)

    async def queue_missing(self, embedding_version: str, now: datetime) -> int:
        """Queue every note that lacks a vector of this version and is not queued yet; returns how many."""
        return await self.run.write(_queue_missing, embedding_version, now)

    async def drop(self, embedding_version: str) -> int:
        """Delete all vectors of a version; returns the number of chunk vectors."""
        return await self.run.write(_drop, embedding_version)


def vectors_of(connection: Connection, keys: Sequence[ChunkKey], embedding_version: str) -> dict[ChunkKey, Floats]:
    """Vectors by chunk, without chunks that have none."""
    query = select(_vectors.chunk_key, _vectors.vec)
    query = query.where(_vectors.chunk_key.in_(keys), _vectors.embedding_version == embedding_version)
    return {ChunkKey(key): vector for key, vector in connection.execute(query).all()}


def _missing(connection: Connection, note_id: NoteId, embedding_version: str) -> list[StoredChunk]:
    stored = [one for one in chunks_of(connection, note_id, embedding_version) if not one.has_vector]
    if not stored:
        return []
    text = connection.execute(select(_notes.text).where(_notes.note_id == note_id)).scalar_one()
    keys = [one.chunk_key for one in stored]
    rows = connection.execute(select(_pieces.chunk_key, _pieces.pieces).where(_pieces.chunk_key.in_(keys)))
    pieces = {row.chunk_key: row.pieces for row in rows}
    return [replace(one, pieces=pieces.get(one.chunk_key, b""), note_text=text) for one in stored]


def _of_notes(connection: Connection, note_ids: Sequence[NoteId], embedding_version: str) -> dict[NoteId, Floats]:
    query = select(_pooled.note_id, _pooled.vec)
    query = query.where(_pooled.note_id.in_(note_ids), _pooled.embedding_version == embedding_version)
    return {NoteId(row.note_id): row.vec for row in connection.execute(query)}


def _attach(
    connection: Connection,
    note: Note,
    vectors: Mapping[ChunkKey, Floats],
    pooled: Floats | None,
    embedding_version: str,
    now: datetime,
    pieces: Mapping[ChunkKey, bytes],
) -> None:
    if not _still_there(connection, note, list(vectors)):
        raise Conflict("The note was changed by another write; its new chunks will be embedded instead.")
    existing = vectors_of(connection, list(vectors), embedding_version)
    new = {key: vector for key, vector in vectors.items() if key not in existing}
    rows = [vector_values(key, new[key], pieces.get(key, b""), embedding_version, now) for key in new]
    if rows:
        connection.execute(_INSERT_VECTORS, rows)
    if pooled is not None:
        key = (_pooled.note_id == note.note_id, _pooled.embedding_version == embedding_version)
        connection.execute(delete(note_embeddings).where(*key))
        connection.execute(_INSERT_POOLED, pooled_values(note.note_id, pooled, embedding_version, now))


def _still_there(connection: Connection, note: Note, keys: Sequence[ChunkKey]) -> bool:
    """Whether these chunks still belong to the note. Chunks are replaced all at once, so one is checked for all."""
    if keys:
        first = select(_chunks.note_id).where(_chunks.chunk_key == keys[0]).with_for_update(read=True, key_share=True)
        return connection.execute(first).scalar() == note.note_id
    current = select(_notes.revision).where(_notes.note_id == note.note_id).with_for_update()
    return connection.execute(current).scalar() == note.revision


def _page(
    connection: Connection, embedding_version: str, after: ChunkKey, limit: int, now: datetime
) -> list[tuple[ChunkWithNote, Floats]]:
    query = (
        select(*CHUNK_COLUMNS, *NOTE_COLUMNS, _vectors.vec)
        .select_from(memory_note_chunks)
        .join(memory_notes, _notes.note_id == _chunks.note_id)
        .join(note_chunk_embeddings, _vectors.chunk_key == _chunks.chunk_key)
        .where(_chunks.chunk_key > after, _vectors.embedding_version == embedding_version, is_current(now))
        .order_by(_chunks.chunk_key)
        .limit(limit)
    )
    return [(to_chunk_with_note(row), row["vec"]) for row in records(connection.execute(query))]


def _count_missing(connection: Connection, embedding_version: str) -> int:
    missing = _chunks.chunk_key.not_in(index_marks.with_vector(embedding_version))
    return connection.execute(select(func.count()).select_from(memory_note_chunks).where(missing)).scalar_one()


def _queue_missing(connection: Connection, embedding_version: str, now: datetime) -> int:
    lacking = select(_chunks.note_id).where(_chunks.chunk_key.not_in(index_marks.with_vector(embedding_version)))
    rows = indexing_outbox.c
    waiting = select(rows.note_id).where(rows.state != outbox.DONE, rows.task == Task.INDEX.value)
    note_id = memory_notes.c.note_id
    return outbox.enqueue_all(connection, now, only=and_(note_id.in_(lacking), note_id.not_in(waiting)))


def _versions(connection: Connection) -> dict[str, int]:
    counts = select(_vectors.embedding_version, func.count().label("rows")).group_by(_vectors.embedding_version)
    return {row.embedding_version: row.rows for row in connection.execute(counts)}


def _switch(connection: Connection, embedding_version: str, now: datetime) -> None:
    names = [EMBEDDING_VERSION, NEXT_EMBEDDING_VERSION]
    connection.execute(delete(store_facts).where(store_facts.c.name.in_(names)))
    connection.execute(insert(store_facts).values(name=EMBEDDING_VERSION, value=embedding_version))
    index_marks.clear(connection, now)


def _drop(connection: Connection, embedding_version: str) -> int:
    connection.execute(delete(note_embeddings).where(_pooled.embedding_version == embedding_version))
    dropped = delete(note_chunk_embeddings).where(_vectors.embedding_version == embedding_version)
    return connection.execute(dropped).rowcount
