"""Conditions in SQL: a NoteFilter, and lists of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import ARRAY, BindParameter, ColumnElement, String, and_, any_, bindparam, literal_column, or_
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from nur.adapters.sql.columns import Moment
from nur.adapters.sql.tables import memory_notes
from nur.domain.kinds import TURNS
from nur.domain.notes import SHARED, Kind

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import Column, Connection
    from sqlalchemy.sql.compiler import SQLCompiler

    from nur.domain.filters import NoteFilter

_notes = memory_notes.c

#: Statements kept per place, one per filter: composing one of fifty columns takes as long as running it.
STATEMENTS = 64
#: The time of a statement that is kept.
NOW: BindParameter[Any] = bindparam("now", type_=Moment)

#: As a literal, not a parameter: only then can the database see that a partial index applies.
IS_ACTIVE: ColumnElement[bool] = _notes.status == literal_column("'active'")


def is_current(now: datetime | BindParameter[Any]) -> ColumnElement[bool]:
    """Neither in the trash nor expired."""
    return and_(IS_ACTIVE, or_(_notes.expires_at.is_(None), _notes.expires_at > now))


def notes_matching(where: NoteFilter, now: datetime | BindParameter[Any]) -> ColumnElement[bool]:
    """The filter for a query that starts from notes."""
    return and_(_notes.tenant_id == where.tenant, _conditions(where, now))


def chunks_matching(where: NoteFilter, now: datetime | BindParameter[Any]) -> ColumnElement[bool]:
    """The filter for a query that finds rows elsewhere and then looks up their notes."""
    return and_(_LookedUp(_notes.tenant_id) == where.tenant, _conditions(where, now))


class _LookedUp(FunctionElement[str]):
    """A column to check, not to search by."""

    type = String()
    inherit_cache = True


@compiles(_LookedUp)
def _plain(element: _LookedUp, compiler: SQLCompiler, **options: Any) -> str:
    """As it is: PostgreSQL knows how common each value is, but would guess that an expression is rarely true."""
    return compiler.process(element.clauses, **options)


@compiles(_LookedUp, "sqlite")
def _by_no_index(element: _LookedUp, compiler: SQLCompiler, **options: Any) -> str:
    """In an expression, so that SQLite does not use the index on tenants.

    It expects ten notes per tenant and would scan all to find 200 chunks: 115 ms for 30,000 notes instead of 24.
    """
    return f"({compiler.process(element.clauses, **options)} || '')"


def _conditions(where: NoteFilter, now: datetime | BindParameter[Any]) -> ColumnElement[bool]:
    conditions: list[ColumnElement[bool]] = [is_current(now)]
    if len(where.kinds) < len(Kind):
        conditions.append(_notes.kind.in_(sorted(kind.value for kind in where.kinds)))
    equal = {
        _notes.type: where.type,
        _notes.source_system: where.source_system,
        _notes.sensitivity: where.sensitivity,
        _notes.visibility_scope: where.visibility,
        _notes.project_id: where.project,
        _notes.agent_id: where.agent,
        _notes.scope: where.scope,
    }
    conditions += [column == value for column, value in equal.items() if value is not None]
    if where.min_confidence is not None:
        conditions.append(or_(_notes.confidence.is_(None), _notes.confidence >= where.min_confidence))
    if where.conversation_id is not None:
        conditions.append(or_(_notes.kind.not_in(sorted(TURNS)), _notes.conversation_id == where.conversation_id))
    if where.occurred_from is not None:
        conditions.append(_notes.occurred_at >= where.occurred_from)
    if where.occurred_to is not None:
        conditions.append(_notes.occurred_at <= where.occurred_to)
    if where.visible_to is not None:
        shared = _notes.visibility_scope.in_(sorted(scope.value for scope in SHARED))
        conditions.append(or_(shared, _notes.owner_id == where.visible_to))
    return and_(*conditions)


def among(dialect: str, column: Column[Any], name: str) -> ColumnElement[bool]:
    """Whether the column has one of the values of a parameter: `one_of` for a statement that is kept."""
    if dialect == "sqlite":
        return column.in_(bindparam(name, expanding=True))
    return column == any_(bindparam(name, type_=ARRAY(column.type)))


def one_of(connection: Connection, column: Column[Any], values: Collection[Any]) -> ColumnElement[bool]:
    """Whether the column has one of these values: on PostgreSQL one parameter, however many there are.

    A list would be a new statement for each length, which SQLAlchemy, the driver and PostgreSQL would each parse again.
    """
    if connection.dialect.name == "sqlite":
        return column.in_(values)
    return column == any_(bindparam(None, list(values), type_=ARRAY(column.type), unique=True))
