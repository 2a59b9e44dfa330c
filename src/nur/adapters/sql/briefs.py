"""SqlBriefStore: what a brief is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, and_, case, func, not_, or_, select

from nur.adapters.sql.filters import notes_matching
from nur.adapters.sql.tables import (
    audit_log,
    decisions,
    derivations,
    memory_notes,
    note_statements,
    note_times,
    note_versions,
)
from nur.domain.decisions import DecisionKind
from nur.domain.notes import SHARED, Kind, NoteId, Status
from nur.domain.statements import StatedQuote, StatementKind, Trust
from nur.ports.briefs import BriefMaterial, NamedDay, NoteExcerpt, TextChange

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from nur.adapters.sql.runner import Runner
    from nur.ports.briefs import BriefQuery

_notes, _derived = memory_notes.c, derivations.c
_stated, _times, _versions, _decided = note_statements.c, note_times.c, note_versions.c, decisions.c
_SUPERSEDES = _decided.kind == DecisionKind.SUPERSEDES.value

#: Longer stretches ("next year") are no date to be reminded of.
MOST_DAYS = 7
#: Written by hand, one thing each; turns and documents are too long to be listed.
SHORT_KINDS = (Kind.MEMORY, Kind.NOTE, Kind.EVENT)


@dataclass(frozen=True, slots=True)
class SqlBriefStore:
    """A few short queries over one snapshot."""

    run: Runner

    async def mark(self, tenant: str) -> int:
        """A number that grows with the tenant's writes."""
        return await self.run.read(_mark, tenant)

    async def material(self, query: BriefQuery) -> BriefMaterial:
        """Everything that a brief may quote."""
        return await self.run.read(_material, query)


def _mark(connection: Connection, tenant: str) -> int:
    written = audit_log.c  # in this order the newest line is found at once; `max` would read all of them
    last = select(written.audit_id).where(written.tenant_id == tenant).order_by(written.audit_id.desc()).limit(1)
    return connection.execute(last).scalar() or 0


def _material(connection: Connection, query: BriefQuery) -> BriefMaterial:
    matching = and_(or_(*(notes_matching(where, query.now) for where in query.where)), _holds(query))
    return BriefMaterial(
        statements=[one for kind in query.kinds for one in _statements(connection, query, matching, kind)],
        changes=_changes(connection, query, matching),
        upcoming=_upcoming(connection, query, matching),
        recent=_recent(connection, query, matching),
    )


def _holds(query: BriefQuery) -> ColumnElement[bool]:
    """Nothing that the caller may see supersedes the note: what was replaced is history, and no brief quotes it."""
    newer = memory_notes.alias("newer")
    superseding = (
        select(_decided.newer_id)
        .join(newer, newer.c.note_id == _decided.newer_id)
        .where(_decided.older_id == _notes.note_id, _SUPERSEDES, _is_seen(newer.c, query))
    )
    return not_(superseding.exists())


def _is_seen(columns: Any, query: BriefQuery) -> ColumnElement[bool]:
    """Whether the caller may see another note, which is neither in the trash nor expired."""
    seen = [
        columns.status == Status.ACTIVE.value,
        or_(columns.expires_at.is_(None), columns.expires_at > query.now),
    ]
    names = {where.visible_to for where in query.where}
    if None not in names:
        seen.append(
            or_(columns.visibility_scope.in_(sorted(SHARED)), columns.owner_id.in_(sorted(filter(None, names))))
        )
    return and_(*seen)


def _statements(
    connection: Connection, query: BriefQuery, matching: ColumnElement[bool], kind: StatementKind
) -> list[StatedQuote]:
    quote = func.substr(_notes.text, _stated.start_char + 1, _stated.end_char - _stated.start_char)
    rows = connection.execute(
        select(_notes.note_id, _notes.public_id, _notes.occurred_at, _stated.speaker, quote.label("quote"))
        .select_from(note_statements)
        .join(derivations, _derived.derivation_id == _stated.derivation_id)
        .join(memory_notes, _notes.note_id == _derived.note_id)
        .where(_stated.kind == kind.value, _stated.trust == Trust.OWNER.value, matching)
        .order_by(_notes.occurred_at.desc(), _notes.note_id, _stated.start_char)
        .limit(query.limit)
    )
    return [
        StatedQuote(kind, Trust.OWNER, row.speaker, row.quote, NoteId(row.note_id), row.public_id, row.occurred_at)
        for row in rows
    ]


def _changes(connection: Connection, query: BriefQuery, matching: ColumnElement[bool]) -> list[TextChange]:
    before, after = func.substr(_versions.text, 1, query.characters), func.substr(_notes.text, 1, query.characters)
    rows = connection.execute(
        select(_notes.public_id, _versions.replaced_at, before.label("before"), after.label("after"))
        .select_from(note_versions)
        .join(memory_notes, _notes.note_id == _versions.note_id)
        .where(_versions.replaced_at >= query.changed_since, _versions.version == _notes.version - 1)
        .where(_notes.kind.in_([kind.value for kind in SHORT_KINDS]), matching)
        .order_by(_versions.replaced_at.desc(), _notes.note_id)
        .limit(query.limit)
    )
    replaced = [TextChange(row.public_id, row.replaced_at, row.before, row.after) for row in rows]
    superseded = _superseded(connection, query, matching)
    return sorted([*replaced, *superseded], key=lambda one: one.replaced_at, reverse=True)[: query.limit]


def _superseded(connection: Connection, query: BriefQuery, matching: ColumnElement[bool]) -> list[TextChange]:
    """Notes that superseded another one lately, as changes of its text."""
    older = memory_notes.alias("older")
    before, after = func.substr(older.c.text, 1, query.characters), func.substr(_notes.text, 1, query.characters)
    rows = connection.execute(
        select(_notes.public_id, _decided.decided_at, before.label("before"), after.label("after"))
        .select_from(decisions)
        .join(memory_notes, _notes.note_id == _decided.newer_id)
        .join(older, older.c.note_id == _decided.older_id)
        .where(_SUPERSEDES, _decided.decided_at >= query.changed_since, _is_seen(older.c, query), matching)
        .order_by(_decided.decided_at.desc(), _notes.note_id)
        .limit(query.limit)
    )
    return [TextChange(row.public_id, row.decided_at, row.before, row.after) for row in rows]


def _upcoming(connection: Connection, query: BriefQuery, matching: ColumnElement[bool]) -> list[NamedDay]:
    half = query.characters // 2
    start = case((_times.start_char > half, _times.start_char - half), else_=0)
    text = func.substr(_notes.text, start + 1, query.characters)
    within = and_(_times.first_day < query.end_day, _times.end_day > query.first_day)
    rows = connection.execute(
        select(
            _notes.public_id,
            _notes.occurred_at,
            text.label("text"),
            (_times.start_char - start).label("at"),
            _times.first_day,
            _times.end_day,
        )
        .select_from(note_times)
        .join(derivations, _derived.derivation_id == _times.derivation_id)
        .join(memory_notes, _notes.note_id == _derived.note_id)
        .where(within, _times.end_day - _times.first_day <= MOST_DAYS, matching)
        .order_by(_times.first_day, _notes.occurred_at.desc(), _notes.note_id, _times.start_char)
        .limit(query.limit)
    )
    return [
        NamedDay(NoteExcerpt(row.public_id, row.occurred_at, row.text), row.at, row.first_day, row.end_day)
        for row in rows
    ]


def _recent(connection: Connection, query: BriefQuery, matching: ColumnElement[bool]) -> list[NoteExcerpt]:
    text = func.substr(_notes.text, 1, query.characters)
    rows = connection.execute(
        select(_notes.public_id, _notes.occurred_at, text.label("text"))
        .where(_notes.kind.in_([kind.value for kind in SHORT_KINDS]), matching)
        .order_by(_notes.occurred_at.desc(), _notes.note_id)
        .limit(query.limit)
    )
    return [NoteExcerpt(row.public_id, row.occurred_at, row.text) for row in rows]
