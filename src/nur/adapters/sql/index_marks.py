"""SqlIndexMarks: which chunks the vector index holds at their note's revision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, or_, select, update

from nur.adapters.sql import outbox
from nur.adapters.sql.filters import IS_ACTIVE, is_current
from nur.adapters.sql.mapping import CHUNK_COLUMNS, NOTE_COLUMNS, records, to_chunk_with_note
from nur.adapters.sql.tables import indexing_outbox, memory_note_chunks, memory_notes, note_chunk_embeddings
from nur.ports.outbox import Task

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Select

    from nur.adapters.sql.runner import Runner
    from nur.domain.notes import NoteId
    from nur.ports.chunks import ChunkWithNote

_chunks = memory_note_chunks.c
_notes = memory_notes.c
_vectors = note_chunk_embeddings.c


@dataclass(frozen=True, slots=True)
class SqlIndexMarks:
    """The indexed revision, stored with each chunk."""

    run: Runner

    async def is_indexed(self, note_id: NoteId) -> bool:
        """Whether the index holds every chunk of the note at its revision; True for a note without chunks."""
        return await self.run.read(is_indexed, note_id)

    async def mark_all(self, embedding_version: str, now: datetime) -> int:
        """Record that the index holds every chunk with a vector, and close the outbox rows of complete notes."""
        return await self.run.write(_mark_all, embedding_version, now)

    async def clear(self, now: datetime) -> int:
        """Record that the index holds nothing, queue every note, oldest first, and return how many there are."""
        return await self.run.write(clear, now)

    async def count(self, embedding_version: str) -> int:
        """How many chunks the index should hold."""
        return await self.run.read(_count, embedding_version)

    async def sample(self, embedding_version: str, limit: int, now: datetime) -> list[ChunkWithNote]:
        """Random chunks that the index should find."""
        return await self.run.read(_sample, embedding_version, limit, now)


def is_indexed(connection: Connection, note_id: NoteId) -> bool:
    """Whether the index holds every chunk of the note at its revision."""
    stale = select(_chunks.chunk_key).where(_chunks.note_id == note_id, _is_stale()).limit(1)
    return connection.execute(stale).first() is None


def clear(connection: Connection, now: datetime) -> int:
    """Record that the index holds nothing, and queue every note."""
    marked = update(memory_note_chunks).where(_chunks.indexed_revision.is_not(None))
    connection.execute(marked.values(indexed_revision=None))
    return outbox.enqueue_all(connection, now)


def with_vector(embedding_version: str) -> Select[int]:
    """Keys of the chunks that have a vector of this version."""
    return select(_vectors.chunk_key).where(_vectors.embedding_version == embedding_version)


def _is_stale() -> ColumnElement[bool]:
    """The chunk is not indexed at its revision. The condition is spelled as in the partial index."""
    return or_(_chunks.indexed_revision.is_(None), _chunks.indexed_revision != _chunks.revision)


def _mark_all(connection: Connection, embedding_version: str, now: datetime) -> int:
    indexed = update(memory_note_chunks).where(_chunks.chunk_key.in_(with_vector(embedding_version)))
    marked = connection.execute(indexed.values(indexed_revision=_chunks.revision)).rowcount
    incomplete = select(_chunks.note_id).where(_is_stale())
    complete = select(_notes.note_id).where(IS_ACTIVE, _notes.note_id.not_in(incomplete))
    rows = indexing_outbox.c
    open_rows = (rows.state == outbox.PENDING, rows.task == Task.INDEX.value, rows.note_id.in_(complete))
    closed = {"state": outbox.DONE, "finished_at": now, "leased_by": None, "leased_until": None}
    connection.execute(update(indexing_outbox).where(*open_rows).values(**closed))
    return marked


def _count(connection: Connection, embedding_version: str) -> int:
    query = (
        select(func.count())
        .select_from(memory_note_chunks)
        .join(note_chunk_embeddings, _vectors.chunk_key == _chunks.chunk_key)
        .where(_chunks.indexed_revision.is_not(None), _vectors.embedding_version == embedding_version)
    )
    return connection.execute(query).scalar_one()


def _sample(connection: Connection, embedding_version: str, limit: int, now: datetime) -> list[ChunkWithNote]:
    drawn = (  # keys first: shuffling whole rows would read every text
        select(_chunks.chunk_key)
        .join(memory_notes, _notes.note_id == _chunks.note_id)
        .join(note_chunk_embeddings, _vectors.chunk_key == _chunks.chunk_key)
        .where(_chunks.indexed_revision == _chunks.revision, _vectors.embedding_version == embedding_version)
        .where(is_current(now))
        .order_by(func.random())
        .limit(limit)
    )
    keys = connection.execute(drawn).scalars().all()
    query = (
        select(*CHUNK_COLUMNS, *NOTE_COLUMNS)
        .select_from(memory_note_chunks)
        .join(memory_notes, _notes.note_id == _chunks.note_id)
        .where(_chunks.chunk_key.in_(keys))
    )
    return [to_chunk_with_note(row) for row in records(connection.execute(query))]
