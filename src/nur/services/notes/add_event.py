"""Add an event: a note of something that happened at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.notes import Kind
from nur.domain.retention import end
from nur.domain.writes import Draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.domain.notes import NoteMetadata, Principal
    from nur.domain.writes import OnEmbeddingFailure, Protection, Stored
    from nur.ports.clock import Clock
    from nur.services.notes.store_note import StoreNote


@dataclass(frozen=True, slots=True)
class AddEvent:
    """Stores an event; the same text at another time is another event."""

    store: StoreNote
    clock: Clock
    wake: Callable[[], None]

    async def __call__(
        self,
        text: str,
        meta: NoteMetadata,
        stated: Protection,
        *,
        principal: Principal,
        on_failure: OnEmbeddingFailure,
        ttl_days: float | None = None,
    ) -> Stored:
        """Store the event; without a time it happened now. Raises BadRequest, EmbedderDown, KeyRefused, Conflict."""
        now = self.clock.now()
        meta = replace(meta, occurred_at=meta.occurred_at or now)
        stated = replace(stated, expires_at=end(stated.expires_at, ttl_days, now))
        draft = Draft(kind=Kind.EVENT, text=text, meta=meta, stated=stated)
        stored = await self.store(draft, principal, on_failure)
        self.wake()
        return stored
