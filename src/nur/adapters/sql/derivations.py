"""SqlDerivationStore and SqlFingerprintStore: rows derived from a note at its revision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, delete, func, insert, or_, select, update

from nur.adapters.sql import outbox
from nur.adapters.sql.filters import IS_ACTIVE, chunks_matching
from nur.adapters.sql.tables import derivations, fingerprint_bands, memory_notes, note_statements, note_times
from nur.domain.errors import Conflict
from nur.domain.notes import NoteId
from nur.ports.outbox import Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from nur.adapters.sql.runner import Runner
    from nur.domain.derivations import Derivation, DerivedRow
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import Note

_derived = derivations.c
_notes = memory_notes.c

# Built once: building a statement costs more than running it.
# With the deriver instead of `sort_by_parameter_order`, for which SQLite would run one statement per row.
_INSERT = insert(derivations).returning(_derived.deriver, _derived.derivation_id)
_INSERT_ROWS = {table.name: insert(table) for table in (fingerprint_bands, note_statements, note_times)}
_DROP = delete(derivations).where(_derived.note_id == bindparam("of_note"))
_CARRY_OVER = (
    update(derivations).where(_derived.note_id == bindparam("of_note")).values(revision=bindparam("to_revision"))
)


@dataclass(frozen=True, slots=True)
class SqlDerivationStore:
    """One row per note and deriver, referenced by the derived rows in the deriver's own table."""

    run: Runner

    async def put(self, note: Note, derived: Sequence[Derivation], now: datetime) -> None:
        """Replace the rows of these derivers for the note. Raises Conflict."""
        await self.run.write(_put, note, derived, now)

    async def queue(self, now: datetime) -> int:
        """Queue every active note to be derived again; returns how many."""
        return await self.run.write(outbox.enqueue_all, now, Task.DERIVE)

    async def queue_outdated(self, versions: Mapping[str, int], now: datetime) -> int:
        """Queue active notes without rows of one of these derivers in this version; returns how many."""
        return await self.run.write(_queue_outdated, versions, now)


@dataclass(frozen=True, slots=True)
class SqlFingerprintStore:
    """Finds similar notes by their fingerprint bands."""

    run: Runner

    async def similar(self, note_id: NoteId, where: NoteFilter, now: datetime, limit: int) -> list[NoteId]:
        """Other notes that share bands with this one, most shared bands first."""
        return await self.run.read(similar, note_id, where, now, limit)


def add(connection: Connection, note: Note, derived: Sequence[Derivation], now: datetime) -> None:
    """Insert derived rows of a note that has none of these derivers yet."""
    if not derived:
        return
    of_note = {"note_id": note.note_id, "revision": note.revision, "derived_at": now}
    rows = [{**of_note, "deriver": one.deriver, "version": one.version} for one in derived]
    keys: dict[str, int] = dict(connection.execute(_INSERT, rows).all())
    for one in derived:
        if one.rows:
            derivation = {"derivation_id": keys[one.deriver]}
            connection.execute(_INSERT_ROWS[one.deriver], [{**derivation, **_columns(row)} for row in one.rows])


def _columns(row: DerivedRow) -> dict[str, int | str]:
    """The row as column values. `asdict` copies each of them, at ten times the cost."""
    return {name: getattr(row, name) for name in row.__slots__}


def drop(connection: Connection, note_id: NoteId) -> None:
    """Delete everything derived from a note."""
    connection.execute(_DROP, {"of_note": note_id})


def carry_over(connection: Connection, note: Note, derived: Sequence[Derivation], now: datetime) -> None:
    """Carry the rows of an unchanged text over to the note's new revision, and replace those derived again."""
    connection.execute(_CARRY_OVER, {"of_note": note.note_id, "to_revision": note.revision})
    _replace(connection, note, derived, now)


def similar(connection: Connection, note_id: NoteId, where: NoteFilter, now: datetime, limit: int) -> list[NoteId]:
    """Other notes that share bands with this one, most shared bands first."""
    own, others, band, same = derivations.alias(), derivations.alias(), fingerprint_bands, fingerprint_bands.alias()
    query = (
        select(others.c.note_id)
        .select_from(own)
        .join(band, band.c.derivation_id == own.c.derivation_id)
        .join(same, same.c.band_hash == band.c.band_hash)
        .join(others, and_(others.c.derivation_id == same.c.derivation_id, others.c.version == own.c.version))
        .join(memory_notes, _notes.note_id == others.c.note_id)
        .where(own.c.note_id == note_id, own.c.deriver == band.name, others.c.note_id != note_id)
        .where(chunks_matching(where, now))
        .group_by(others.c.note_id)
        .order_by(func.count().desc(), others.c.note_id)
        .limit(limit)
    )
    return [NoteId(found) for found in connection.execute(query).scalars()]


def _put(connection: Connection, note: Note, derived: Sequence[Derivation], now: datetime) -> None:
    current = select(_notes.note_id).where(_notes.note_id == note.note_id, _notes.revision == note.revision, IS_ACTIVE)
    if connection.execute(current.with_for_update()).first() is None:
        raise Conflict("The note was changed by another write; it will be derived again.")
    _replace(connection, note, derived, now)


def _replace(connection: Connection, note: Note, derived: Sequence[Derivation], now: datetime) -> None:
    if derived:
        names = [one.deriver for one in derived]
        connection.execute(delete(derivations).where(_derived.note_id == note.note_id, _derived.deriver.in_(names)))
        add(connection, note, derived, now)


def _queue_outdated(connection: Connection, versions: Mapping[str, int], now: datetime) -> int:
    wanted = or_(*(and_(_derived.deriver == name, _derived.version == number) for name, number in versions.items()))
    complete = select(_derived.note_id).where(wanted).group_by(_derived.note_id).having(func.count() == len(versions))
    return outbox.enqueue_all(connection, now, Task.DERIVE, _notes.note_id.not_in(complete))
