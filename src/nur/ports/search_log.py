"""SearchLogStore: traces of searches, and records of opened results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from nur.domain.notes import NoteId
    from nur.domain.traces import Trace, TraceItem


@dataclass(frozen=True, slots=True)
class HitRecord:
    """A search result that the caller opened."""

    tenant: str
    principal: str
    search_id: UUID
    note_id: NoteId
    chunk_id: UUID | None
    rank: int  #: from 1


class SearchLogStore(Protocol):
    """Stored traces. Every method is one transaction."""

    async def save(self, traces: Sequence[Trace]) -> None:
        """Save traces; existing ones are not overwritten."""
        ...

    async def trace(self, tenant: str, name: UUID) -> Trace | None:
        """Return a trace by its trace id or search id."""
        ...

    async def item(self, tenant: str, item_id: UUID) -> TraceItem | None:
        """Return one hit of a trace."""
        ...

    async def record_hits(self, hits: Sequence[HitRecord], now: datetime) -> None:
        """Record opened results, except of notes that are gone."""
        ...

    async def purge(self, before: datetime) -> int:
        """Delete traces made before a time. Returns how many."""
        ...
