"""SqlBriefStore: reads the statements, changes, dates and recent notes that a brief quotes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, case, func, not_, or_, select

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
    from datetime import datetime

    from sqlalchemy import Connection

    from nur.adapters.sql.runner import Runner
    from nur.domain.filters import NoteFilter
    from nur.ports.briefs import BriefQuery

_notes, _derived = memory_notes.c, derivations.c
_stated, _times, _versions, _decided = note_statements.c, note_times.c, note_versions.c, decisions.c
_SUPERSEDES = _decided.kind == DecisionKind.SUPERSEDES.value
_NOW: BindParameter[Any] = bindparam("now", type_=_notes.expires_at.type)
_CHANGED_SINCE: BindParameter[Any] = bindparam("changed_since", type_=_versions.replaced_at.type)
_ANY_DECISION = (
    select(_decided.newer_id).where(_decided.tenant_id.in_(bindparam("tenants", expanding=True)), _SUPERSEDES).limit(1)
)

#: Longer periods ("next year") are not listed as upcoming dates.
MAX_DAYS = 7
#: Kinds whose notes are short, one fact each; turns and documents are too long to list.
SHORT_KINDS = (Kind.MEMORY, Kind.NOTE, Kind.EVENT)


@dataclass(frozen=True, slots=True)
class SqlBriefStore:
    """Reads a brief's material with a few short queries in one snapshot."""

    run: Runner

    async def mark(self, tenant: str) -> int:
        """A number that grows with the tenant's writes."""
        return await self.run.read(_mark, tenant)

    async def material(self, query: BriefQuery) -> BriefMaterial:
        """Everything that a brief may quote."""
        return await self.run.read(_material, query)


def _mark(connection: Connection, tenant: str) -> int:
    written = audit_log.c  # the index gives the newest row at once; `max` would read all of them
    last = select(written.audit_id).where(written.tenant_id == tenant).order_by(written.audit_id.desc()).limit(1)
    return connection.execute(last).scalar() or 0


class _Queries(NamedTuple):
    """Queries for one combination of filters and limits, with times and kinds as parameters."""

    statements: Select[Any]
    changes: Select[Any]
    superseded: Select[Any] | None  #: None: there are no decisions
    upcoming: Select[Any]
    recent: Select[Any]


def _material(connection: Connection, query: BriefQuery) -> BriefMaterial:
    tenants = {where.tenant for where in query.where}
    decided = connection.execute(_ANY_DECISION, {"tenants": sorted(tenants)}).first() is not None
    queries = _queries(tuple(query.where), query.limit, query.characters, has_decisions=decided)
    now = {"now": query.now}
    since = {**now, "changed_since": query.changed_since}
    days = {**now, "first_day": query.first_day, "end_day": query.end_day}
    return BriefMaterial(
        statements=[one for kind in query.kinds for one in _statements(connection, queries, kind, query.now)],
        changes=_changes(connection, queries, since, query.limit),
        upcoming=[
            NamedDay(NoteExcerpt(row.public_id, row.occurred_at, row.text), row.at, row.first_day, row.end_day)
            for row in connection.execute(queries.upcoming, days)
        ],
        recent=[
            NoteExcerpt(row.public_id, row.occurred_at, row.text) for row in connection.execute(queries.recent, now)
        ],
    )


@lru_cache(64)
def _queries(where: tuple[NoteFilter, ...], limit: int, characters: int, *, has_decisions: bool) -> _Queries:
    """Build the queries; cached, since building and compiling them takes longer than SQLite takes to run them."""
    matching = or_(*(notes_matching(one, _NOW) for one in where))
    if has_decisions:
        matching = and_(matching, _holds(where))
    return _Queries(
        statements=_stated_query(matching, limit),
        changes=_changes_query(matching, limit, characters),
        superseded=_superseded_query(where, matching, limit, characters) if has_decisions else None,
        upcoming=_upcoming_query(matching, limit, characters),
        recent=_recent_query(matching, limit, characters),
    )


def _holds(where: tuple[NoteFilter, ...]) -> ColumnElement[bool]:
    """Condition: no note that the caller may see supersedes this one. Briefs quote no superseded notes."""
    newer = memory_notes.alias("newer")
    superseding = (
        select(_decided.newer_id)
        .join(newer, newer.c.note_id == _decided.newer_id)
        .where(_decided.older_id == _notes.note_id, _SUPERSEDES, _is_seen(newer.c, where))
    )
    return not_(superseding.exists())


def _is_seen(columns: Any, where: tuple[NoteFilter, ...]) -> ColumnElement[bool]:
    """Condition: the note is neither in the trash nor expired, and the caller may see it."""
    seen = [columns.status == Status.ACTIVE.value, or_(columns.expires_at.is_(None), columns.expires_at > _NOW)]
    names = {one.visible_to for one in where}
    if None not in names:
        seen.append(
            or_(columns.visibility_scope.in_(sorted(SHARED)), columns.owner_id.in_(sorted(filter(None, names))))
        )
    return and_(*seen)


def _stated_query(matching: ColumnElement[bool], limit: int) -> Select[Any]:
    # The newest are selected without their texts: otherwise SQLite would read every text to sort them.
    best = (
        select(_stated.derivation_id, _stated.start_char, _stated.end_char, _stated.speaker, _notes.note_id)
        .join(derivations, _derived.derivation_id == _stated.derivation_id)
        .join(memory_notes, _notes.note_id == _derived.note_id)
        .where(_stated.kind == bindparam("kind"), _stated.trust == Trust.OWNER.value, matching)
        .order_by(_notes.occurred_at.desc(), _notes.note_id, _stated.start_char)
        .limit(limit)
        .subquery("best")
    )
    quote = func.substr(_notes.text, best.c.start_char + 1, best.c.end_char - best.c.start_char)
    return (
        select(_notes.note_id, _notes.public_id, _notes.occurred_at, best.c.speaker, quote.label("quote"))
        .join(best, best.c.note_id == _notes.note_id)
        .order_by(_notes.occurred_at.desc(), _notes.note_id, best.c.start_char)
    )


def _statements(connection: Connection, queries: _Queries, kind: StatementKind, now: datetime) -> list[StatedQuote]:
    rows = connection.execute(queries.statements, {"now": now, "kind": kind.value})
    return [
        StatedQuote(kind, Trust.OWNER, row.speaker, row.quote, NoteId(row.note_id), row.public_id, row.occurred_at)
        for row in rows
    ]


def _changes(connection: Connection, queries: _Queries, since: dict[str, Any], limit: int) -> list[TextChange]:
    """Replaced texts, and notes that superseded another one; newest first."""
    found = [
        TextChange(row.public_id, row.at, row.before, row.after)
        for one in (queries.changes, queries.superseded)
        if one is not None
        for row in connection.execute(one, since)
    ]
    return sorted(found, key=lambda one: one.replaced_at, reverse=True)[:limit]


def _changes_query(matching: ColumnElement[bool], limit: int, characters: int) -> Select[Any]:
    before, after = func.substr(_versions.text, 1, characters), func.substr(_notes.text, 1, characters)
    return (
        select(_notes.public_id, _versions.replaced_at.label("at"), before.label("before"), after.label("after"))
        .select_from(note_versions)
        .join(memory_notes, _notes.note_id == _versions.note_id)
        .where(_versions.replaced_at >= _CHANGED_SINCE, _versions.version == _notes.version - 1)
        .where(_notes.kind.in_([kind.value for kind in SHORT_KINDS]), matching)
        .order_by(_versions.replaced_at.desc(), _notes.note_id)
        .limit(limit)
    )


def _superseded_query(
    where: tuple[NoteFilter, ...], matching: ColumnElement[bool], limit: int, characters: int
) -> Select[Any]:
    """Notes that recently superseded another one, as changes of its text."""
    older = memory_notes.alias("older")
    before, after = func.substr(older.c.text, 1, characters), func.substr(_notes.text, 1, characters)
    return (
        select(_notes.public_id, _decided.decided_at.label("at"), before.label("before"), after.label("after"))
        .select_from(decisions)
        .join(memory_notes, _notes.note_id == _decided.newer_id)
        .join(older, older.c.note_id == _decided.older_id)
        .where(_SUPERSEDES, _decided.decided_at >= _CHANGED_SINCE, _is_seen(older.c, where), matching)
        .order_by(_decided.decided_at.desc(), _notes.note_id)
        .limit(limit)
    )


def _upcoming_query(matching: ColumnElement[bool], limit: int, characters: int) -> Select[Any]:
    # The filter is checked per note, in a subquery. Combined with the range of days, SQLite would start from the
    # tenant's notes, which it estimates at ten: 14 ms for 10,000 notes, even if none names a day.
    shown = memory_notes.alias("shown")
    is_matching = select(_notes.note_id).where(_notes.note_id == shown.c.note_id, matching).exists()
    half = characters // 2
    start = case((_times.start_char > half, _times.start_char - half), else_=0)
    text = func.substr(shown.c.text, start + 1, characters)
    within = and_(
        _times.first_day < bindparam("end_day"),
        _times.first_day > bindparam("first_day") - MAX_DAYS,  # follows from the other two; the index needs it
        _times.end_day > bindparam("first_day"),
    )
    return (
        select(
            shown.c.public_id,
            shown.c.occurred_at,
            text.label("text"),
            (_times.start_char - start).label("at"),
            _times.first_day,
            _times.end_day,
        )
        .select_from(note_times)
        .join(derivations, _derived.derivation_id == _times.derivation_id)
        .join(shown, shown.c.note_id == _derived.note_id)
        .where(within, _times.end_day - _times.first_day <= MAX_DAYS, is_matching)
        .order_by(_times.first_day, shown.c.occurred_at.desc(), shown.c.note_id, _times.start_char)
        .limit(limit)
    )


def _recent_query(matching: ColumnElement[bool], limit: int, characters: int) -> Select[Any]:
    text = func.substr(_notes.text, 1, characters)
    return (
        select(_notes.public_id, _notes.occurred_at, text.label("text"))
        .where(_notes.kind.in_([kind.value for kind in SHORT_KINDS]), matching)
        .order_by(_notes.occurred_at.desc(), _notes.note_id)
        .limit(limit)
    )
