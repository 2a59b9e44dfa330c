"""SqlNoteStore: reads notes, their texts, pages and counts. `note_writes.py` changes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    Tuple,
    bindparam,
    func,
    literal,
    literal_column,
    or_,
    select,
    tuple_,
)

from nur.adapters.sql.filters import IS_ACTIVE, notes_matching
from nur.adapters.sql.mapping import NOTE_COLUMNS, records, to_note
from nur.adapters.sql.note_writes import purge_note, remove_note, write_note
from nur.adapters.sql.tables import (
    memory_notes,
)
from nur.domain.filters import Facet, Order
from nur.domain.notes import Note, NoteId, Status
from nur.ports.notes import PageCursor, Written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.adapters.sql.runner import Runner
    from nur.domain.access import WriteContext
    from nur.domain.filters import NoteFilter
    from nur.ports.notes import NoteWrite

_notes = memory_notes.c
_BY_PUBLIC_ID = select(*NOTE_COLUMNS).where(
    _notes.tenant_id == bindparam("tenant"), _notes.public_id == bindparam("asked")
)
# One query per status: each has its own index, and one query for both would scan all notes. The status is a literal:
# with a parameter SQLite would plan the query each time (90 µs instead of 8).
_BY_IDENTITY = [
    select(*NOTE_COLUMNS)
    .where(
        _notes.tenant_id == bindparam("tenant"),
        _notes.identity == bindparam("asked"),
        _notes.status == literal_column(f"'{status.value}'"),
    )
    .order_by(_notes.deleted_at.desc())
    .limit(1)
    for status in (Status.ACTIVE, Status.DELETED)
]


@dataclass(frozen=True, slots=True)
class SqlNoteStore:
    """Notes in one table; what is derived from them is written in the same transaction."""

    run: Runner
    lexical_index: LexicalIndex

    async def write(self, write: NoteWrite, context: WriteContext) -> Written:
        """Commit one write, and the suggestions of its comparison. Raises Conflict."""
        written = await self.run.write(write_note, self.lexical_index, write, context)
        self.lexical_index.committed(term for new in write.chunks for term in new.words)
        return written

    async def remove(self, note: Note, context: WriteContext, *, action: str, indexed: bool) -> Note:
        """Move a note to the trash and delete everything derived from it. Raises Conflict."""
        return await self.run.write(remove_note, self.lexical_index, note, context, action=action, indexed=indexed)

    async def purge(self, note: Note, context: WriteContext, *, indexed: bool) -> None:
        """Erase a note for good, with its versions and the traces that returned it. Raises Conflict."""
        await self.run.write(purge_note, self.lexical_index, note, context, indexed=indexed)

    async def get(self, tenant: str, public_id: str) -> Note | None:
        """A note by its public id, also from the trash."""
        return await self.run.read(_get, tenant, public_id)

    async def by_identity(self, tenant: str, identity: str) -> Note | None:
        """The active note with this identity, else the one deleted last."""
        return await self.run.read(_by_identity, tenant, identity)

    async def by_ids(self, note_ids: Sequence[NoteId]) -> dict[NoteId, Note]:
        """Notes by their internal ids; unknown ones are left out."""
        return await self.run.read(_by_ids, note_ids)

    async def page(
        self,
        where: NoteFilter,
        now: datetime,
        *,
        limit: int,
        order: Order = Order.NEWEST,
        after: str | PageCursor | int | None = None,
        containing: str | None = None,
    ) -> list[Note]:
        """A page of active notes after the last one seen: its public id, cursor or turn index."""
        return await self.run.read(_page, where, now, limit, order, after, containing)

    async def count(self, where: NoteFilter, now: datetime, by: Facet = Facet.KIND) -> dict[str, int]:
        """Number of matching active notes per kind or project, without zeros."""
        return await self.run.read(_count, where, now, by)

    async def texts(
        self, note_ids: Sequence[NoteId], characters: int | None = None, start: int = 0
    ) -> dict[NoteId, str]:
        """The texts of notes from `start` on, up to `characters` each if given."""
        return await self.run.read(_texts, note_ids, characters, start)

    async def all(self, after: NoteId | None, limit: int) -> list[Note]:
        """A page of the active notes of all tenants, by internal id, including expired ones."""
        return await self.run.read(_all, after, limit)

    async def expired(self, now: datetime, limit: int) -> list[Note]:
        """Active notes past their expiry."""
        return await self.run.read(_expired, now, limit)

    async def trash(
        self, before: datetime, limit: int, *, tenant: str | None = None, after: PageCursor | None = None
    ) -> list[Note]:
        """Notes deleted before then, oldest first; of one tenant, or of all."""
        return await self.run.read(_trash, before, limit, tenant, after)


def _get(connection: Connection, tenant: str, public_id: str) -> Note | None:
    rows = records(connection.execute(_BY_PUBLIC_ID, {"tenant": tenant, "asked": public_id}))
    return to_note(rows[0]) if rows else None


def _by_identity(connection: Connection, tenant: str, identity: str) -> Note | None:
    for query in _BY_IDENTITY:
        rows = records(connection.execute(query, {"tenant": tenant, "asked": identity}))
        if rows:
            return to_note(rows[0])
    return None


def _by_ids(connection: Connection, note_ids: Sequence[NoteId]) -> dict[NoteId, Note]:
    rows = records(connection.execute(select(*NOTE_COLUMNS).where(_notes.note_id.in_(note_ids))))
    return {note.note_id: note for note in map(to_note, rows)}


def _page(
    connection: Connection,
    where: NoteFilter,
    now: datetime,
    limit: int,
    order: Order,
    after: str | PageCursor | int | None,
    containing: str | None,
) -> list[Note]:
    ranks: dict[Order, ColumnElement[Any]] = {
        Order.NEWEST: _notes.ingested_at,
        Order.SAID: _notes.occurred_at,
        Order.LAST_TURNS: func.coalesce(_notes.turn_index, -1),
    }
    rank = ranks[order]
    query = select(*NOTE_COLUMNS).where(notes_matching(where, now))
    query = query.order_by(rank.desc(), _notes.note_id.desc()).limit(limit)
    if containing is not None:
        contains = [column.icontains(containing, autoescape=True) for column in (_notes.title, _notes.text)]
        query = query.where(or_(*contains))
    if isinstance(after, PageCursor):
        query = query.where(tuple_(rank, _notes.note_id) < _reached(after))
    elif isinstance(after, int):
        query = query.where(_notes.turn_index < after)
    elif after is not None:
        last = (_notes.tenant_id == where.tenant, _notes.public_id == after)
        reached_by_id = select(rank, _notes.note_id).where(*last).scalar_subquery()
        query = query.where(tuple_(rank, _notes.note_id) < reached_by_id)
    return [to_note(row) for row in records(connection.execute(query))]


def _reached(cursor: PageCursor) -> Tuple:
    return tuple_(literal(cursor.at, _notes.ingested_at.type), literal(cursor.note_id, _notes.note_id.type))


def _count(connection: Connection, where: NoteFilter, now: datetime, by: Facet) -> dict[str, int]:
    column = {Facet.KIND: _notes.kind, Facet.PROJECT: _notes.project_id}[by]
    query = select(column, func.count()).where(notes_matching(where, now)).group_by(column)
    return {row[0]: row[1] for row in connection.execute(query)}


def _texts(connection: Connection, note_ids: Sequence[NoteId], characters: int | None, start: int) -> dict[NoteId, str]:
    if characters is not None:
        text: ColumnElement[str] = func.substr(_notes.text, start + 1, characters).label("text")
    else:
        text = func.substr(_notes.text, start + 1).label("text") if start else _notes.text
    rows = connection.execute(select(_notes.note_id, text).where(_notes.note_id.in_(note_ids)))
    return {NoteId(row.note_id): row.text for row in rows}


def _all(connection: Connection, after: NoteId | None, limit: int) -> list[Note]:
    query = select(*NOTE_COLUMNS).where(IS_ACTIVE).order_by(_notes.note_id).limit(limit)
    if after is not None:
        query = query.where(_notes.note_id > after)
    return [to_note(row) for row in records(connection.execute(query))]


def _expired(connection: Connection, now: datetime, limit: int) -> list[Note]:
    past = (_notes.expires_at.is_not(None), _notes.expires_at <= now, IS_ACTIVE)
    return [to_note(row) for row in records(connection.execute(select(*NOTE_COLUMNS).where(*past).limit(limit)))]


def _trash(
    connection: Connection, before: datetime, limit: int, tenant: str | None, after: PageCursor | None
) -> list[Note]:
    gone = (_notes.status == Status.DELETED.value, _notes.deleted_at < before)
    query = select(*NOTE_COLUMNS).where(*gone).order_by(_notes.deleted_at, _notes.note_id).limit(limit)
    if tenant is not None:
        query = query.where(_notes.tenant_id == tenant)
    if after is not None:
        query = query.where(tuple_(_notes.deleted_at, _notes.note_id) > _reached(after))
    return [to_note(row) for row in records(connection.execute(query))]
