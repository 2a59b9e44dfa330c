"""SearchLogStore: traces of searches, and which results were opened."""

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
    """What is kept of searches for a while. Every method is one transaction."""

    async def save(self, traces: Sequence[Trace]) -> None:
        """Keep traces; one that is there already stays as it is."""
        ...

    async def trace(self, tenant: str, name: UUID) -> Trace | None:
        """A trace by its own id or by its search's."""
        ...

    async def item(self, tenant: str, item_id: UUID) -> TraceItem | None:
        """One hit of a trace."""
        ...

    async def record_hits(self, hits: Sequence[HitRecord], now: datetime) -> None:
        """Record opened results; those of notes that are gone are left out."""
        ...

    async def purge(self, before: datetime) -> int:
        """Delete traces made before then and return how many."""
        ...
