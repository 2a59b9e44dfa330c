"""SqlConversationStore: conversations, as groups of turns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, literal, select, tuple_

from nur.adapters.sql.filters import IS_ACTIVE, notes_matching
from nur.adapters.sql.tables import memory_notes
from nur.domain.conversations import Conversation
from nur.domain.kinds import TURNS, turn_identity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection, Row

    from nur.adapters.sql.runner import Runner
    from nur.domain.filters import NoteFilter
    from nur.ports.notes import ConversationCursor

_notes = memory_notes.c
_LAST_AT = func.max(_notes.occurred_at, type_=_notes.occurred_at.type)
_GROUPED = (
    select(
        _notes.conversation_id,
        func.count().label("turns"),
        func.min(_notes.turn_index).label("first_index"),
        func.max(_notes.turn_index).label("last_index"),
        func.min(_notes.occurred_at, type_=_notes.occurred_at.type).label("first_at"),
        _LAST_AT.label("last_at"),
    )
    .group_by(_notes.conversation_id)
    .order_by(_LAST_AT.desc(), _notes.conversation_id.desc())
)


@dataclass(frozen=True, slots=True)
class SqlConversationStore:
    """Groups turns by their conversation id."""

    run: Runner

    async def page(
        self,
        where: NoteFilter,
        now: datetime,
        *,
        limit: int,
        after: ConversationCursor | None = None,
        characters: int,
    ) -> list[Conversation]:
        """Conversations with turns that match, latest first, each with the first characters of its first turn."""
        return await self.run.read(_page, where, now, limit, after, characters)


def _page(
    connection: Connection,
    where: NoteFilter,
    now: datetime,
    limit: int,
    after: ConversationCursor | None,
    characters: int,
) -> list[Conversation]:
    turns = replace(where, kinds=TURNS)
    query = _GROUPED.where(notes_matching(turns, now)).limit(limit)
    if after is not None:
        reached = tuple_(literal(after.last_at, _notes.occurred_at.type), literal(after.conversation_id))
        query = query.having(tuple_(_LAST_AT, _notes.conversation_id) < reached)
    rows = connection.execute(query).all()
    openings = _openings(connection, where.tenant, rows, characters)
    return [
        Conversation(
            row.conversation_id,
            row.turns,
            row.last_index,
            row.first_at,
            row.last_at,
            openings.get(row.conversation_id, ""),
        )
        for row in rows
    ]


def _openings(connection: Connection, tenant: str, rows: Sequence[Row[Any]], characters: int) -> dict[str, str]:
    """The beginning of each conversation's first turn."""
    first = [turn_identity(row.conversation_id, row.first_index) for row in rows]
    query = select(_notes.conversation_id, func.substr(_notes.text, 1, characters).label("opening"))
    found = connection.execute(query.where(_notes.tenant_id == tenant, _notes.identity.in_(first), IS_ACTIVE))
    return {row.conversation_id: row.opening for row in found}
