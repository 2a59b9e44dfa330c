"""Add an event: a note of something that happened at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.notes import Kind
from nur.domain.retention import end

if TYPE_CHECKING:
    from nur.domain.access import Caller
    from nur.domain.notes import NoteMetadata
    from nur.domain.writes import OnEmbeddingFailure, Protection, Stored
    from nur.ports.clock import Clock
    from nur.services.notes.store_note import StoreNote


@dataclass(frozen=True, slots=True)
class AddEvent:
    """Stores an event; the same text at another time is another event."""

    store: StoreNote
    clock: Clock

    async def __call__(
        self,
        text: str,
        meta: NoteMetadata,
        stated: Protection,
        *,
        caller: Caller,
        on_failure: OnEmbeddingFailure,
        ttl_days: float | None = None,
    ) -> Stored:
        """Store the event; without a time it happened now. Raises BadRequest, EmbedderDown, KeyRefused, Conflict."""
        now = self.clock.now()
        meta = replace(meta, occurred_at=meta.occurred_at or now)
        stated = replace(stated, expires_at=end(stated.expires_at, ttl_days, now))
        return await self.store(Kind.EVENT, text, meta, caller, on_failure, stated=stated)
