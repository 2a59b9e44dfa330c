"""What search and indexing read of chunks: transaction bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Select, func, or_, select, update

from nur.adapters.sql import notes
from nur.adapters.sql.mapping import (
    CHUNK_COLUMNS,
    NOTE_COLUMNS,
    SCORING_COLUMNS,
    active,
    c,
    chunks_selected,
    has_vector,
    n,
    records,
    selected,
    to_candidate,
    to_scoring_view,
)
from nur.adapters.sql.tables import (
    lexical_totals,
    memory_note_chunks,
    memory_notes,
    note_chunk_embeddings,
)
from nur.domain.errors import Conflict
from nur.domain.notes import ChunkKey, Note, NoteId, turn_identity
from nur.ports.ledger import ChunkWithNote, CorpusStatistics

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.domain.filters import NoteFilter
    from nur.ports.embedder import Floats
    from nur.ports.ledger import LexicalHit, ScoringView

v = note_chunk_embeddings.c

# Built once: composing a statement of fifty columns takes longer than running it.
_SCORING_VIEWS = select(*SCORING_COLUMNS).select_from(memory_note_chunks).join(memory_notes, n.note_id == c.note_id)
_CANDIDATES = (
    select(*CHUNK_COLUMNS, c.sentences, *NOTE_COLUMNS, has_vector())
    .select_from(memory_note_chunks)
    .join(memory_notes, n.note_id == c.note_id)
)


def _stale() -> Select[int]:
    """Keys of chunks whose index record is not at the note's revision; the words match the partial index."""
    chunk = memory_note_chunks.alias("stale").c
    return select(chunk.chunk_key).where(
        or_(chunk.indexed_revision.is_(None), chunk.indexed_revision != chunk.revision)
    )


_ANY_STALE = _stale().limit(1)


def vectors(connection: Connection, keys: Sequence[ChunkKey], embedding_version: str) -> dict[ChunkKey, Floats]:
    """Stored vectors; a chunk without one is left out."""
    query = select(v.chunk_key, v.vec).where(v.chunk_key.in_(keys), v.embedding_version == embedding_version)
    return {ChunkKey(key): vector for key, vector in connection.execute(query).all()}


def lexical(
    connection: Connection,
    lexical_index: LexicalIndex,
    terms: Sequence[str],
    where: NoteFilter,
    limit: int,
    now: datetime,
) -> list[LexicalHit]:
    """Chunks that hold any of the terms, best first."""
    return lexical_index.search(connection, terms, chunks_selected(where, now), limit)


def corpus(connection: Connection, lexical_index: LexicalIndex, terms: Sequence[str]) -> CorpusStatistics:
    """Statistics of what is stored, for these terms."""
    totals = connection.execute(select(lexical_totals.c.chunks, lexical_totals.c.terms)).one()
    found = lexical_index.frequencies(connection, terms, totals.chunks)
    return CorpusStatistics(totals.chunks, totals.terms, found)


def unindexed(
    connection: Connection, where: NoteFilter, embedding_version: str, limit: int, now: datetime
) -> tuple[list[ChunkKey], Floats]:
    """Chunks whose index record is not at their note's revision, with their vectors."""
    if connection.execute(_ANY_STALE).scalar() is None:
        return [], np.empty((0, 0), dtype=np.float32)
    # By their keys, so that the few stale ones lead: a join would walk every chunk (30,000: 130 ms; so: 1 ms).
    query = _vectors_in(where, embedding_version, now).where(v.chunk_key.in_(_stale()))
    return _keys_and_vectors(connection, query.limit(limit))


def selected_vectors(
    connection: Connection, where: NoteFilter, embedding_version: str, limit: int, now: datetime
) -> tuple[list[ChunkKey], Floats]:
    """Chunks in the selection with their vectors, whatever the index holds."""
    return _keys_and_vectors(connection, _vectors_in(where, embedding_version, now).limit(limit))


def _vectors_in(where: NoteFilter, embedding_version: str, now: datetime) -> Select[int, Floats]:
    return (
        select(c.chunk_key, v.vec)
        .select_from(memory_note_chunks)
        .join(memory_notes, n.note_id == c.note_id)
        .join(note_chunk_embeddings, v.chunk_key == c.chunk_key)
        .where(v.embedding_version == embedding_version, chunks_selected(where, now))
    )


def _keys_and_vectors(connection: Connection, query: Select[int, Floats]) -> tuple[list[ChunkKey], Floats]:
    rows = connection.execute(query).all()
    if not rows:
        return [], np.empty((0, 0), dtype=np.float32)
    return [ChunkKey(row.chunk_key) for row in rows], np.stack([row.vec for row in rows])


def scoring_views(
    connection: Connection, keys: Sequence[ChunkKey], where: NoteFilter, now: datetime
) -> list[ScoringView]:
    """Look at chunks; what is deleted, expired or outside the selection is left out."""
    query = _SCORING_VIEWS.where(c.chunk_key.in_(keys), chunks_selected(where, now))
    return [to_scoring_view(row) for row in connection.execute(query).all()]


def turns_near(
    connection: Connection, places: Collection[tuple[str, int]], where: NoteFilter, now: datetime
) -> list[ScoringView]:
    """Look at the chunks of the turns at these places, as far as they are selected.

    By what makes them unique: conversations and numbers would take a statement for each conversation.
    """
    identities = [turn_identity(conversation_id, turn_index) for conversation_id, turn_index in places]
    query = _SCORING_VIEWS.where(n.identity.in_(identities), selected(where, now))
    return [to_scoring_view(row) for row in connection.execute(query).all()]


def candidates(
    connection: Connection, keys: Sequence[ChunkKey], where: NoteFilter, now: datetime
) -> list[ChunkWithNote]:
    """Re-read chunks with their notes; what is deleted, expired or outside the selection is left out."""
    query = _CANDIDATES.where(c.chunk_key.in_(keys), chunks_selected(where, now))
    return [to_candidate(row, has_vector=row["has_vector"]) for row in records(connection.execute(query))]


def pages(
    connection: Connection, embedding_version: str, after: ChunkKey, limit: int, now: datetime
) -> list[ChunkWithNote]:
    """Active chunks with a vector, by key."""
    query = (
        select(*CHUNK_COLUMNS, *NOTE_COLUMNS)
        .select_from(memory_note_chunks)
        .join(memory_notes, n.note_id == c.note_id)
        .join(note_chunk_embeddings, v.chunk_key == c.chunk_key)
        .where(c.chunk_key > after, v.embedding_version == embedding_version, active(now))
        .order_by(c.chunk_key)
        .limit(limit)
    )
    return [to_candidate(row) for row in records(connection.execute(query))]


def sample_indexed(connection: Connection, embedding_version: str, limit: int, now: datetime) -> list[ChunkWithNote]:
    """Chunks that the index should hold and show, drawn at random."""
    drawn = (  # keys first: shuffling whole rows would read every text
        select(c.chunk_key)
        .join(memory_notes, n.note_id == c.note_id)
        .join(note_chunk_embeddings, v.chunk_key == c.chunk_key)
        .where(c.indexed_revision == c.revision, v.embedding_version == embedding_version, active(now))
        .order_by(func.random())
        .limit(limit)
    )
    keys = connection.execute(drawn).scalars().all()
    query = (
        select(*CHUNK_COLUMNS, *NOTE_COLUMNS)
        .select_from(memory_note_chunks)
        .join(memory_notes, n.note_id == c.note_id)
        .where(c.chunk_key.in_(keys))
    )
    return [to_candidate(row) for row in records(connection.execute(query))]


def count_indexed(connection: Connection, embedding_version: str) -> int:
    """How many chunks the index should hold."""
    query = (
        select(func.count())
        .select_from(memory_note_chunks)
        .join(note_chunk_embeddings, v.chunk_key == c.chunk_key)
        .where(c.indexed_revision.is_not(None), v.embedding_version == embedding_version)
    )
    return connection.execute(query).scalar_one()


def attach_vectors(
    connection: Connection,
    note: Note,
    found: Mapping[ChunkKey, Floats],
    pooled: Floats | None,
    embedding_version: str,
    now: datetime,
) -> None:
    """Add vectors to the note's chunks. Raises Conflict when those are gone."""
    if not _still_there(connection, note, list(found)):
        raise Conflict("The note was changed by another write; its new chunks will be embedded instead.")
    there = set(vectors(connection, list(found), embedding_version))
    notes.put_vectors(connection, {k: vec for k, vec in found.items() if k not in there}, embedding_version, now)
    if pooled is not None:
        notes.put_pooled(connection, note.note_id, pooled, embedding_version, now)


def _still_there(connection: Connection, note: Note, keys: Sequence[ChunkKey]) -> bool:
    """Whether these are chunks of the note; chunks are replaced all together, so one of them stands for all."""
    if keys:
        return connection.execute(select(c.note_id).where(c.chunk_key == keys[0])).scalar() == note.note_id
    existing = connection.execute(select(n.revision).where(n.note_id == note.note_id)).scalar()
    return existing == note.revision


def mark_indexed(connection: Connection, note_id: NoteId, revision: int) -> bool:
    """Say that the index holds this revision; False when the note has moved on."""
    if connection.execute(select(n.revision).where(n.note_id == note_id)).scalar() != revision:
        return False
    chunks = memory_note_chunks
    connection.execute(update(chunks).where(chunks.c.note_id == note_id).values(indexed_revision=revision))
    return True
