"""Whether a note is in a selection: the rule every index's own filter must agree with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.notes import Kind, Status

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import Description, Note
    from nur.domain.selection import Selection


def is_alive(note: Note, now: datetime) -> bool:
    """Whether the note is neither deleted nor expired; `expires_at` itself is too late."""
    expires_at = note.about.expires_at
    return note.status is Status.ACTIVE and (expires_at is None or expires_at > now)


def _has_what_is_asked(about: Description, selection: Selection) -> bool:
    asked = (
        (selection.type, about.type),
        (selection.source_system, about.source_system),
        (selection.sensitivity, about.sensitivity),
        (selection.visibility, about.visibility),
        (selection.project, about.project),
        (selection.agent, about.agent),
        (selection.scope, about.scope),
    )
    return all(wanted is None or wanted == held for wanted, held in asked)


def _is_sure_enough(about: Description, selection: Selection) -> bool:
    if selection.min_confidence is None or about.confidence is None:
        return True
    return about.confidence >= selection.min_confidence


def _happened_within(about: Description, selection: Selection) -> bool:
    if selection.occurred_from is None and selection.occurred_to is None:
        return True
    if about.occurred_at is None:
        return False
    return (selection.occurred_from is None or selection.occurred_from <= about.occurred_at) and (
        selection.occurred_to is None or about.occurred_at <= selection.occurred_to
    )


def _is_in_the_conversation(note: Note, selection: Selection) -> bool:
    if selection.conversation_id is None or note.kind is not Kind.TURN:
        return True
    return note.about.conversation_id == selection.conversation_id


def matches(note: Note, selection: Selection, now: datetime) -> bool:
    """Whether the note is selected at this moment; `expires_at` itself is too late."""
    return (
        note.tenant == selection.tenant
        and note.kind in selection.kinds
        and is_alive(note, now)
        and _has_what_is_asked(note.about, selection)
        and _is_sure_enough(note.about, selection)
        and _is_in_the_conversation(note, selection)
        and _happened_within(note.about, selection)
    )
