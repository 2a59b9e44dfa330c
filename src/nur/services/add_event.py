"""Add an event: a note of something that happened at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.notes import Kind
from nur.domain.writes import Draft, OnEmbeddingFailure
from nur.services.add_note import with_expiry

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.domain.notes import Description, Principal
    from nur.domain.writes import Stored
    from nur.ports.clock import Clock
    from nur.services.store_note import StoreNote


@dataclass(frozen=True, slots=True)
class AddEvent:
    """Stores an event; the same text at another time is another event. Never waits for the embedding provider."""

    store: StoreNote
    clock: Clock
    wake: Callable[[], None]

    async def __call__(
        self, text: str, about: Description, principal: Principal, *, ttl_days: float | None = None
    ) -> Stored:
        """Store the event; without a time it happened now. Raises BadRequest, Conflict."""
        now = self.clock.now()
        about = with_expiry(replace(about, occurred_at=about.occurred_at or now), ttl_days, now)
        stored = await self.store(Draft(kind=Kind.EVENT, text=text, about=about), principal, OnEmbeddingFailure.LATER)
        self.wake()
        return stored
