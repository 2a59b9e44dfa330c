"""Whether a note is in a selection: the rule every index's own filter must agree with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.notes import Kind, Status

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.filters import NoteFilter
    from nur.domain.notes import Note, NoteMetadata


def is_alive(note: Note, now: datetime) -> bool:
    """Whether the note is neither deleted nor expired; `expires_at` itself is too late."""
    expires_at = note.meta.expires_at
    return note.status is Status.ACTIVE and (expires_at is None or expires_at > now)


def _has_what_is_asked(meta: NoteMetadata, where: NoteFilter) -> bool:
    asked = (
        (where.type, meta.type),
        (where.source_system, meta.source_system),
        (where.sensitivity, meta.sensitivity),
        (where.visibility, meta.visibility),
        (where.project, meta.project),
        (where.agent, meta.agent),
        (where.scope, meta.scope),
    )
    return all(wanted is None or wanted == existing for wanted, existing in asked)


def _is_sure_enough(meta: NoteMetadata, where: NoteFilter) -> bool:
    if where.min_confidence is None or meta.confidence is None:
        return True
    return meta.confidence >= where.min_confidence


def _happened_within(meta: NoteMetadata, where: NoteFilter) -> bool:
    if where.occurred_from is None and where.occurred_to is None:
        return True
    if meta.occurred_at is None:
        return False
    return (where.occurred_from is None or where.occurred_from <= meta.occurred_at) and (
        where.occurred_to is None or meta.occurred_at <= where.occurred_to
    )


def _is_in_the_conversation(note: Note, where: NoteFilter) -> bool:
    if where.conversation_id is None or note.kind is not Kind.TURN:
        return True
    return note.meta.conversation_id == where.conversation_id


def matches(note: Note, where: NoteFilter, now: datetime) -> bool:
    """Whether the note is selected at this moment; `expires_at` itself is too late."""
    return (
        note.tenant == where.tenant
        and note.kind in where.kinds
        and is_alive(note, now)
        and _has_what_is_asked(note.meta, where)
        and _is_sure_enough(note.meta, where)
        and _is_in_the_conversation(note, where)
        and _happened_within(note.meta, where)
    )
