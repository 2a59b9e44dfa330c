"""NoteFilter: which notes a request covers; PrivacyFilter: which a principal may see.

Every index applies the filter, and the store checks it again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from nur.domain.kinds import TURNS
from nur.domain.notes import SHARED, Kind, Status

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.access import Principal
    from nur.domain.notes import Note, NoteMetadata


class Facet(StrEnum):
    """A field that notes can be counted by."""

    KIND = "kind"
    PROJECT = "project"


class Order(StrEnum):
    """Sort order of a page of notes."""

    NEWEST = "newest"  #: most recently stored first
    SAID = "said"  #: most recently said first
    LAST_TURNS = "last_turns"  #: highest turn index first; notes that are not turns come last


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFilter:
    """Conditions that a note must all meet; None means any value. Expired and deleted notes never match."""

    tenant: str
    kinds: frozenset[Kind] = frozenset(Kind)
    type: str | None = None
    min_confidence: float | None = None  #: a note without a confidence matches
    conversation_id: str | None = None  #: restricts turns only; other kinds match
    source_system: str | None = None
    sensitivity: str | None = None
    visibility: str | None = None
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None  #: inclusive
    project: str | None = None
    agent: str | None = None
    scope: str | None = None
    visible_to: str | None = None  #: principal name: only its own notes and those shared with team or organisation


def is_alive(note: Note, now: datetime) -> bool:
    """Whether the note is neither deleted nor expired. It expires exactly at `expires_at`."""
    expires_at = note.meta.expires_at
    return note.status is Status.ACTIVE and (expires_at is None or expires_at > now)


def _has_values(meta: NoteMetadata, where: NoteFilter) -> bool:
    pairs = (
        (where.type, meta.type),
        (where.source_system, meta.source_system),
        (where.sensitivity, meta.sensitivity),
        (where.visibility, meta.visibility),
        (where.project, meta.project),
        (where.agent, meta.agent),
        (where.scope, meta.scope),
    )
    return all(wanted is None or wanted == value for wanted, value in pairs)


def _is_confident(meta: NoteMetadata, where: NoteFilter) -> bool:
    if where.min_confidence is None or meta.confidence is None:
        return True
    return meta.confidence >= where.min_confidence


def _occurred_within(meta: NoteMetadata, where: NoteFilter) -> bool:
    if where.occurred_from is None and where.occurred_to is None:
        return True
    if meta.occurred_at is None:
        return False
    return (where.occurred_from is None or where.occurred_from <= meta.occurred_at) and (
        where.occurred_to is None or meta.occurred_at <= where.occurred_to
    )


def _in_conversation(note: Note, where: NoteFilter) -> bool:
    if where.conversation_id is None or note.kind not in TURNS:
        return True
    return note.meta.conversation_id == where.conversation_id


def _is_visible(note: Note, where: NoteFilter) -> bool:
    return where.visible_to is None or note.meta.visibility in SHARED or note.owner == where.visible_to


def matches(note: Note, where: NoteFilter, now: datetime) -> bool:
    """Whether the note matches the filter at `now`. The reference definition: every engine's filter must agree."""
    return (
        note.tenant == where.tenant
        and note.kind in where.kinds
        and is_alive(note, now)
        and _has_values(note.meta, where)
        and _is_confident(note.meta, where)
        and _in_conversation(note, where)
        and _occurred_within(note.meta, where)
        and _is_visible(note, where)
    )


@dataclass(frozen=True, slots=True)
class PrivacyFilter:
    """Limits what a principal may see: its whole tenant, or if `enforced` only own and shared notes."""

    enforced: bool = False

    def visible(self, where: NoteFilter, principal: Principal) -> NoteFilter:
        """Return the filter limited to what the principal may see."""
        visible_to = principal.name if self.enforced else None
        return replace(where, tenant=principal.tenant, visible_to=visible_to)

    def can_explain(self, tenant: str, asked_by: str, principal: Principal) -> bool:
        """Whether the principal may see a search's question and candidates; if enforced, only those of its own."""
        return tenant == principal.tenant and (not self.enforced or asked_by == principal.name)

    def can_access(self, note: Note, principal: Principal) -> bool:
        """Whether the principal may see a note: its own or shared; without enforcement, any of the tenant."""
        if note.tenant != principal.tenant:
            return False
        return not self.enforced or note.meta.visibility in SHARED or note.owner == principal.name
