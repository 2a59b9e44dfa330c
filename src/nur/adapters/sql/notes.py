"""SqlNoteStore: notes, their texts and versions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    Tuple,
    bindparam,
    delete,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    text,
    tuple_,
    update,
)

from nur.adapters.sql import derivations, outbox
from nur.adapters.sql.audit import audit
from nur.adapters.sql.decisions import compare, drop_suggestions
from nur.adapters.sql.filters import IS_ACTIVE, notes_matching
from nur.adapters.sql.mapping import NOTE_COLUMNS, chunk_values, note_values, piece_values, records, to_note
from nur.adapters.sql.search_log import forget_note
from nur.adapters.sql.tables import (
    audit_log,
    chunk_pieces,
    memory_note_chunks,
    memory_notes,
    note_embeddings,
    note_versions,
)
from nur.adapters.sql.tables.chunks import TOTALS_ROWS
from nur.adapters.sql.vectors import add_pooled, add_vectors
from nur.domain.changes import ChangeKind
from nur.domain.errors import Conflict
from nur.domain.filters import Facet, Order
from nur.domain.kinds import KINDS
from nur.domain.notes import ChunkKey, Note, NoteId, Status
from nur.ports.notes import VERSIONS_KEPT, PageCursor, Written
from nur.ports.outbox import Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.adapters.sql.runner import Runner
    from nur.domain.access import WriteContext
    from nur.domain.filters import NoteFilter
    from nur.ports.decisions import FoundPair
    from nur.ports.notes import NoteWrite

_notes = memory_notes.c
_chunks = memory_note_chunks.c

# Statements are built once and take their values as parameters: building one costs more than running it. `values()`
# makes an object for each column, 59 for one memory: half of the writer's CPU.
_INSERT_NOTE = insert(memory_notes)
_UPDATE_NOTE = update(memory_notes).where(
    _notes.note_id == bindparam("current_id"), _notes.revision == bindparam("current_revision")
)
_CURRENT_TEXT = select(_notes.version, _notes.content_hash, _notes.title, _notes.status, _notes.text).where(
    _notes.note_id == bindparam("current_id")
)
_INSERT_VERSION = insert(note_versions)
_INSERT_CHUNKS = insert(memory_note_chunks).returning(_chunks.chunk_key, sort_by_parameter_order=True)
_INSERT_PIECES = insert(chunk_pieces)
_ADD_TO_TOTALS = text(
    'INSERT INTO lexical_totals AS t ("row", chunks, pieces, terms) VALUES (:row, :chunks, :pieces, :terms)'
    ' ON CONFLICT ("row") DO UPDATE SET chunks = t.chunks + excluded.chunks,'
    " pieces = t.pieces + excluded.pieces, terms = t.terms + excluded.terms"
)
_LOCK_NOTE = select(_notes.note_id).where(_notes.note_id == bindparam("locked")).with_for_update()
_BY_PUBLIC_ID = select(*NOTE_COLUMNS).where(
    _notes.tenant_id == bindparam("tenant"), _notes.public_id == bindparam("asked")
)
# One query per status: each has an index of its own, where the two together would scan all notes. The status stands
# there as a literal: with a parameter SQLite plans the query again each time (90 µs instead of 8).
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
        """Commit one write, with what its comparison suggests. Raises Conflict."""
        return await self.run.write(write_note, self.lexical_index, write, context)

    async def remove(self, note: Note, context: WriteContext, *, action: str, indexed: bool) -> Note:
        """Move a note to the trash and delete everything derived from it. Raises Conflict."""
        return await self.run.write(_remove, self.lexical_index, note, context, action=action, indexed=indexed)

    async def purge(self, note: Note, context: WriteContext, *, indexed: bool) -> None:
        """Erase a note for good, with its versions and the traces that returned it. Raises Conflict."""
        await self.run.write(_purge, self.lexical_index, note, context, indexed=indexed)

    async def get(self, tenant: str, public_id: str) -> Note | None:
        """A note by its public id, in the trash or not."""
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
        """A page of active notes; `after` is the last one seen, by public id, cursor or turn index."""
        return await self.run.read(_page, where, now, limit, order, after, containing)

    async def count(self, where: NoteFilter, now: datetime, by: Facet = Facet.KIND) -> dict[str, int]:
        """How many active notes match, by kind or project; those without any are left out."""
        return await self.run.read(_count, where, now, by)

    async def texts(
        self, note_ids: Sequence[NoteId], characters: int | None = None, start: int = 0
    ) -> dict[NoteId, str]:
        """The texts of notes from `start` on, all or so many characters of them."""
        return await self.run.read(_texts, note_ids, characters, start)

    async def all(self, after: NoteId | None, limit: int) -> list[Note]:
        """A page of the active notes of every tenant, by internal id; expired ones too."""
        return await self.run.read(_all, after, limit)

    async def expired(self, now: datetime, limit: int) -> list[Note]:
        """Active notes past their expiry."""
        return await self.run.read(_expired, now, limit)

    async def trash(
        self, before: datetime, limit: int, *, tenant: str | None = None, after: PageCursor | None = None
    ) -> list[Note]:
        """Notes deleted before then, oldest first; of one tenant, else of all."""
        return await self.run.read(_trash, before, limit, tenant, after)


def write_note(connection: Connection, lexical_index: LexicalIndex, write: NoteWrite, context: WriteContext) -> Written:
    """Write a note, its chunks, lexical rows and vectors, suggestions, its outbox row and its line in the audit log."""
    note = write.note
    change: ChangeKind | None = ChangeKind.CREATED
    if write.replaces is None:
        connection.execute(_INSERT_NOTE, {**note_values(note), "text": write.text})
    else:
        change = _replace_row(connection, write, write.replaces, context.now)
    keys: list[ChunkKey] = []
    similar: Sequence[FoundPair] = ()
    if write.text is None:
        _touch_chunks(connection, note, indexed=write.indexed)
        derivations.carry_over(connection, note, write.derived, context.now)
    else:
        if write.replaces is not None:
            _drop_derived(connection, lexical_index, note.note_id)
        if write.comparison is not None:  # before its own chunks are there to be found
            similar = compare(connection, lexical_index, note, write.comparison, context.now)
        keys = _add_chunks(connection, lexical_index, write, context.now)
        derivations.add(connection, note, write.derived, context.now)
    if not write.indexed:
        outbox.enqueue(connection, note.note_id, note.revision, context.now)
    if write.text is not None and not write.is_derived and note.status is Status.ACTIVE:
        outbox.enqueue(connection, note.note_id, note.revision, context.now, Task.DERIVE)
    audit(connection, note, write.action, context, change)
    return Written(keys, similar)


def _remove(
    connection: Connection,
    lexical_index: LexicalIndex,
    note: Note,
    context: WriteContext,
    *,
    action: str,
    indexed: bool,
) -> Note:
    now = context.now
    gone = replace(note, status=Status.DELETED, revision=note.revision + 1, deleted_at=now, updated_at=now)
    _update_row(connection, gone, note.revision)
    _drop_derived(connection, lexical_index, note.note_id)
    if not indexed:
        outbox.enqueue(connection, note.note_id, gone.revision, now)
    audit(connection, gone, action, context, ChangeKind.DELETED)
    return gone


def _purge(
    connection: Connection, lexical_index: LexicalIndex, note: Note, context: WriteContext, *, indexed: bool
) -> None:
    connection.execute(_LOCK_NOTE, {"locked": note.note_id})  # before its chunks, as every write of a note does
    _drop_derived(connection, lexical_index, note.note_id)
    gone = delete(memory_notes).where(_notes.note_id == note.note_id, _notes.revision == note.revision)
    if connection.execute(gone).rowcount != 1:
        raise Conflict("The note was changed by another write; nothing was erased. Try again.")
    if not indexed:
        outbox.enqueue(connection, note.note_id, note.revision + 1, context.now)
    outbox.cancel(connection, note.note_id, Task.DERIVE)
    forget_note(connection, note.note_id)
    audit(connection, note, "purge", context, ChangeKind.PURGED)
    if KINDS[note.kind].ids_tell:
        lines = update(audit_log).where(audit_log.c.note_id == note.note_id)
        connection.execute(lines.values(public_id=None))


def _replace_row(connection: Connection, write: NoteWrite, current_revision: int, now: datetime) -> ChangeKind | None:
    """Update the note's row if it is still at this revision; a text that changes is kept as a version.

    Returns what that does to the note; None where its text is only cut or embedded again.
    """
    note = write.note
    if write.text is None:
        _update_row(connection, note, current_revision)
        return ChangeKind.EDITED
    current = connection.execute(_CURRENT_TEXT, {"current_id": note.note_id}).first()
    if current is not None and current.version != note.version:
        row = {"note_id": note.note_id, "version": current.version, "content_hash": current.content_hash}
        row |= {"title": current.title, "replaced_at": now, "text": current.text}
        connection.execute(_INSERT_VERSION, row)
        too_old = note_versions.c.version < note.version - VERSIONS_KEPT
        connection.execute(delete(note_versions).where(note_versions.c.note_id == note.note_id, too_old))
    _update_row(connection, note, current_revision, text=write.text)
    return _change(current, note)


def _change(current: Any, note: Note) -> ChangeKind | None:
    """What a write of a text does to the note whose row was `current`."""
    if current is None or current.status != note.status:
        return ChangeKind.RESTORED if note.status is Status.ACTIVE else ChangeKind.DELETED
    return ChangeKind.REPLACED if current.version != note.version else None


def _update_row(connection: Connection, note: Note, current_revision: int, **text: str) -> None:
    values = note_values(note)
    values.pop("note_id")
    current = {"current_id": note.note_id, "current_revision": current_revision}
    if connection.execute(_UPDATE_NOTE, {**values, **text, **current}).rowcount != 1:
        raise Conflict("The note was changed by another write; nothing was written. Try again.")


def _touch_chunks(connection: Connection, note: Note, *, indexed: bool) -> None:
    """Bring the chunks' revision up to their note's."""
    values = {"revision": note.revision} | ({"indexed_revision": note.revision} if indexed else {})
    connection.execute(update(memory_note_chunks).where(_chunks.note_id == note.note_id).values(**values))


def _drop_derived(connection: Connection, lexical_index: LexicalIndex, note_id: NoteId) -> None:
    """Delete everything that a note's text was made into."""
    _drop_chunks(connection, lexical_index, note_id)
    derivations.drop(connection, note_id)
    drop_suggestions(connection, note_id)


def _drop_chunks(connection: Connection, lexical_index: LexicalIndex, note_id: NoteId) -> None:
    """Delete a note's chunks, pieces, lexical rows and vectors."""
    pieces = func.coalesce(chunk_pieces.c.piece_count, 0).label("pieces")  # none: it waits to be analysed again
    own = select(_chunks.chunk_key, _chunks.term_count, pieces).where(_chunks.note_id == note_id)
    rows = connection.execute(own.outerjoin(chunk_pieces, chunk_pieces.c.chunk_key == _chunks.chunk_key)).all()
    connection.execute(delete(note_embeddings).where(note_embeddings.c.note_id == note_id))
    if not rows:
        return
    lexical_index.remove(connection, {ChunkKey(row.chunk_key): row.pieces for row in rows})
    connection.execute(delete(memory_note_chunks).where(_chunks.note_id == note_id))
    pieces, terms = sum(row.pieces for row in rows), sum(row.term_count for row in rows)
    _add_to_totals(connection, note_id, -len(rows), -pieces, -terms)


def _add_chunks(connection: Connection, lexical_index: LexicalIndex, write: NoteWrite, now: datetime) -> list[ChunkKey]:
    if not write.chunks:
        return []
    note = write.note
    rows = [chunk_values(note, new, now, indexed=write.indexed) for new in write.chunks]
    keys = [ChunkKey(key) for key in connection.execute(_INSERT_CHUNKS, rows).scalars()]
    new_chunks = dict(zip(keys, write.chunks, strict=True))
    connection.execute(_INSERT_PIECES, [piece_values(key, new) for key, new in new_chunks.items()])
    words = {term: word for new in write.chunks for term, word in new.words.items()}
    lexical_index.add(connection, {key: new.terms for key, new in new_chunks.items()}, words)
    vectors = {key: new.vector for key, new in new_chunks.items() if new.vector is not None}
    add_vectors(
        connection, vectors, write.embedding_version, now, {key: new.model_vectors for key, new in new_chunks.items()}
    )
    if write.pooled is not None:
        add_pooled(connection, note.note_id, write.pooled, write.embedding_version, now)
    pieces, terms = sum(len(new.terms) for new in write.chunks), sum(new.term_count for new in write.chunks)
    _add_to_totals(connection, note.note_id, len(keys), pieces, terms)
    return keys


def _add_to_totals(connection: Connection, note_id: NoteId, chunks: int, pieces: int, terms: int) -> None:
    counted = {"chunks": chunks, "pieces": pieces, "terms": terms}
    connection.execute(_ADD_TO_TOTALS, {"row": 1 + note_id.int % TOTALS_ROWS, **counted})


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
