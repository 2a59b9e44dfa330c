"""Which notes a question is about: pushed down into every index and checked again by the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.notes import DEFAULT_TENANT, Kind

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFilter:
    """All of these must hold; None asks nothing. Expired and deleted notes are never selected."""

    tenant: str = DEFAULT_TENANT
    kinds: frozenset[Kind] = frozenset(Kind)
    type: str | None = None
    min_confidence: float | None = None  #: a note without a confidence passes
    conversation_id: str | None = None  #: limits turns alone: other kinds pass
    source_system: str | None = None
    sensitivity: str | None = None
    visibility: str | None = None
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None  #: included
    project: str | None = None
    agent: str | None = None
    scope: str | None = None
