"""Looking after what is stored: transaction bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, or_, select, update

from nur.adapters.sql import notes, outbox, traces
from nur.adapters.sql.mapping import IS_ACTIVE, NOTE_COLUMNS, n, records, to_note
from nur.adapters.sql.tables import (
    audit_log,
    indexing_outbox,
    memory_note_chunks,
    memory_notes,
    note_chunk_embeddings,
    note_embeddings,
    store_facts,
)
from nur.domain.errors import Conflict
from nur.domain.notes import TELLING_IDS, NoteId, Status
from nur.ports.upkeep import NEXT_EMBEDDING_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Select

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.domain.notes import Note
    from nur.ports.embedder import Floats

c = memory_note_chunks.c
v = note_chunk_embeddings.c
o = indexing_outbox.c

EMBEDDING_VERSION = "embedding_version"


def _is_stale() -> ColumnElement[bool]:
    """The index does not hold the chunk as it is; the words match the partial index."""
    return or_(c.indexed_revision.is_(None), c.indexed_revision != c.revision)


def _with_vector(embedding_version: str) -> Select[int]:
    return select(v.chunk_key).where(v.embedding_version == embedding_version)


def is_indexed(connection: Connection, note_id: NoteId) -> bool:
    """Whether the index holds every chunk of the note as it is now."""
    stale = select(c.chunk_key).where(c.note_id == note_id, _is_stale()).limit(1)
    return connection.execute(stale).first() is None


def mark_all_indexed(connection: Connection, embedding_version: str, now: datetime) -> int:
    """Say that the index holds every chunk that has a vector, and close the rows of complete notes."""
    existing = c.chunk_key.in_(_with_vector(embedding_version))
    marked = connection.execute(update(memory_note_chunks).where(existing).values(indexed_revision=c.revision)).rowcount
    complete = select(n.note_id).where(IS_ACTIVE, n.note_id.not_in(select(c.note_id).where(_is_stale())))
    rows = update(indexing_outbox).where(o.state == outbox.PENDING, o.note_id.in_(complete))
    connection.execute(rows.values(state=outbox.DONE, finished_at=now, leased_by=None, leased_until=None))
    return marked


def count_missing(connection: Connection, embedding_version: str) -> int:
    """How many chunks have no vector of this version."""
    missing = c.chunk_key.not_in(_with_vector(embedding_version))
    return connection.execute(select(func.count()).select_from(memory_note_chunks).where(missing)).scalar_one()


def pooled(connection: Connection, note_ids: Sequence[NoteId], embedding_version: str) -> dict[NoteId, Floats]:
    """The notes' own vectors."""
    e = note_embeddings.c
    query = select(e.note_id, e.vec).where(e.note_id.in_(note_ids), e.embedding_version == embedding_version)
    return {NoteId(row.note_id): row.vec for row in connection.execute(query)}


def previews(connection: Connection, note_ids: Sequence[NoteId], characters: int) -> dict[NoteId, str]:
    """The beginnings of notes' texts."""
    query = select(n.note_id, func.substr(n.text, 1, characters).label("head")).where(n.note_id.in_(note_ids))
    return {NoteId(row.note_id): row.head for row in connection.execute(query)}


def all_notes(connection: Connection, after: NoteId | None, limit: int) -> list[Note]:
    """A page of the active notes of every tenant."""
    query = select(*NOTE_COLUMNS).where(IS_ACTIVE).order_by(n.note_id).limit(limit)
    if after is not None:
        query = query.where(n.note_id > after)
    return [to_note(row) for row in records(connection.execute(query))]


def expired(connection: Connection, now: datetime, limit: int) -> list[Note]:
    """Active notes whose time is over."""
    query = select(*NOTE_COLUMNS).where(n.expires_at.is_not(None), n.expires_at <= now, IS_ACTIVE).limit(limit)
    return [to_note(row) for row in records(connection.execute(query))]


def trash(connection: Connection, before: datetime, limit: int) -> list[Note]:
    """Notes that were deleted before then, oldest first."""
    gone = (n.status == Status.DELETED.value, n.deleted_at < before)
    query = select(*NOTE_COLUMNS).where(*gone).order_by(n.deleted_at, n.note_id).limit(limit)
    return [to_note(row) for row in records(connection.execute(query))]


def purge(
    connection: Connection,
    lexical_index: LexicalIndex,
    note: Note,
    principal: str,
    *,
    indexed: bool,
    context: notes.WriteContext,
) -> None:
    """Erase a note for good; what hangs on its row goes with it, and so do the traces of searches that returned it."""
    notes.drop_chunks(connection, lexical_index, note.note_id)
    gone = delete(memory_notes).where(n.note_id == note.note_id, n.revision == note.revision)
    if connection.execute(gone).rowcount != 1:
        raise Conflict("The note was changed by another write; nothing was erased. Try again.")
    if not indexed:
        outbox.enqueue(connection, note.note_id, note.revision + 1, context.now)
    traces.forget_note(connection, note.note_id)
    notes.audit(connection, note, "purge", principal, context)
    if note.kind in TELLING_IDS:
        lines = update(audit_log).where(audit_log.c.note_id == note.note_id)
        connection.execute(lines.values(public_id=None))


def vector_counts(connection: Connection) -> dict[str, int]:
    """How many chunk vectors there are of each embedding version."""
    rows = connection.execute(select(v.embedding_version, func.count().label("rows")).group_by(v.embedding_version))
    return {row.embedding_version: row.rows for row in rows}


def switch_embedding(connection: Connection, embedding_version: str, now: datetime) -> None:
    """Make this the store's version; the index is to be filled anew."""
    connection.execute(delete(store_facts).where(store_facts.c.name.in_([EMBEDDING_VERSION, NEXT_EMBEDDING_VERSION])))
    connection.execute(insert(store_facts).values(name=EMBEDDING_VERSION, value=embedding_version))
    outbox.enqueue_all(connection, now)


def drop_vectors(connection: Connection, embedding_version: str) -> int:
    """Forget all vectors of a version."""
    connection.execute(delete(note_embeddings).where(note_embeddings.c.embedding_version == embedding_version))
    return connection.execute(delete(note_chunk_embeddings).where(v.embedding_version == embedding_version)).rowcount
