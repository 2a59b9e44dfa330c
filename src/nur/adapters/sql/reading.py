"""Reading notes: transaction bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, bindparam, func, literal, literal_column, select, tuple_

from nur.adapters.sql.mapping import CHUNK_COLUMNS, NOTE_COLUMNS, has_vector, n, records, selected, to_chunk, to_note
from nur.adapters.sql.tables import memory_note_chunks, memory_notes
from nur.domain.notes import Note, NoteId, Status
from nur.ports.ledger import Order, PageCursor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from nur.domain.filters import NoteFilter
    from nur.ports.ledger import StoredChunk

_BY_PUBLIC_ID = select(*NOTE_COLUMNS).where(n.tenant_id == bindparam("tenant"), n.public_id == bindparam("asked"))
# One question a status: each has an index of its own, where the two together would scan all notes. The status stands
# there as a literal: with a parameter SQLite plans the query anew each time it is asked (90 µs instead of 8).
_BY_IDENTITY = [
    select(*NOTE_COLUMNS)
    .where(
        n.tenant_id == bindparam("tenant"),
        n.identity == bindparam("asked"),
        n.status == literal_column(f"'{status.value}'"),
    )
    .order_by(n.deleted_at.desc())
    .limit(1)
    for status in (Status.ACTIVE, Status.DELETED)
]


def by_public_id(connection: Connection, tenant: str, public_id: str) -> Note | None:
    """A note by its public id, in the trash or not."""
    rows = records(connection.execute(_BY_PUBLIC_ID, {"tenant": tenant, "asked": public_id}))
    return to_note(rows[0]) if rows else None


def by_identity(connection: Connection, tenant: str, identity: str) -> Note | None:
    """The active note with this identity, else the one last deleted."""
    for query in _BY_IDENTITY:
        rows = records(connection.execute(query, {"tenant": tenant, "asked": identity}))
        if rows:
            return to_note(rows[0])
    return None


def by_ids(connection: Connection, note_ids: Sequence[NoteId]) -> dict[NoteId, Note]:
    """Notes by their internal ids."""
    rows = records(connection.execute(select(*NOTE_COLUMNS).where(n.note_id.in_(note_ids))))
    return {note.note_id: note for note in map(to_note, rows)}


def page(
    connection: Connection, where: NoteFilter, order: Order, limit: int, after: str | PageCursor | None, now: datetime
) -> list[Note]:
    """Active notes, in order, from behind `after` on."""
    place: ColumnElement[Any] = func.coalesce(n.turn_index, -1) if order is Order.LAST_TURNS else n.ingested_at
    query = select(*NOTE_COLUMNS).where(selected(where, now)).order_by(place.desc(), n.note_id.desc()).limit(limit)
    if isinstance(after, PageCursor):
        reached = tuple_(literal(after.ingested_at, n.ingested_at.type), literal(after.note_id, n.note_id.type))
        query = query.where(tuple_(n.ingested_at, n.note_id) < reached)
    elif after is not None:
        last = (n.tenant_id == where.tenant, n.public_id == after)
        query = query.where(tuple_(place, n.note_id) < select(place, n.note_id).where(*last).scalar_subquery())
    return [to_note(row) for row in records(connection.execute(query))]


def count(connection: Connection, where: NoteFilter, now: datetime) -> int:
    """How many active notes are selected."""
    query = select(func.count()).select_from(memory_notes).where(selected(where, now))
    return connection.execute(query).scalar_one()


def texts(connection: Connection, note_ids: Sequence[NoteId]) -> dict[NoteId, str]:
    """The full texts of notes."""
    rows = connection.execute(select(n.note_id, n.text).where(n.note_id.in_(note_ids)))
    return {NoteId(row.note_id): row.text for row in rows}


def chunks(
    connection: Connection,
    note_id: NoteId,
    embedding_version: str | None = None,
    between: tuple[int, int] | None = None,
) -> list[StoredChunk]:
    """A note's chunks, in order: all, or those from one index to another."""
    query = (
        select(*CHUNK_COLUMNS, has_vector(embedding_version))
        .where(memory_note_chunks.c.note_id == note_id)
        .order_by(memory_note_chunks.c.chunk_index)
    )
    if between is not None:
        query = query.where(memory_note_chunks.c.chunk_index.between(*between))
    return [to_chunk(row, note_id, has_vector=row["has_vector"]) for row in records(connection.execute(query))]
