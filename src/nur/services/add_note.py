"""Add a note: written and found by its words at once, embedded by the worker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from nur.domain.errors import BadRequest
from nur.domain.notes import Kind, Retention
from nur.domain.writes import Draft, OnEmbeddingFailure

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from nur.domain.notes import Description, Principal
    from nur.domain.writes import Stored
    from nur.ports.clock import Clock
    from nur.services.store_note import StoreNote


@dataclass(frozen=True, slots=True)
class AddNote:
    """Stores a note under its key, or else its text; never waits for the embedding provider."""

    store: StoreNote
    clock: Clock
    wake: Callable[[], None]  #: tells the worker that there is something to do

    async def __call__(
        self, text: str, about: Description, principal: Principal, *, ttl_days: float | None = None
    ) -> Stored:
        """Store the note. Raises BadRequest, Conflict."""
        about = with_expiry(about, ttl_days, self.clock.now())
        draft = Draft(kind=Kind.NOTE, text=text, about=about)
        stored = await self.store(draft, principal, OnEmbeddingFailure.LATER)
        self.wake()
        return stored


def with_expiry(about: Description, ttl_days: float | None, now: datetime) -> Description:
    """The description with the time it ends. Raises BadRequest for times that contradict each other or are over."""
    if ttl_days is not None and about.expires_at is not None:
        raise BadRequest("ttl_days and expires_at exclude each other")
    if ttl_days is not None:
        about = replace(about, expires_at=now + timedelta(days=ttl_days))
    if about.expires_at is not None and about.expires_at <= now:
        raise BadRequest("expires_at must lie in the future")
    if about.retention is Retention.CUSTOM and about.expires_at is None:
        raise BadRequest("retention_policy custom needs expires_at")
    if about.expires_at is not None and about.retention is Retention.FOREVER:
        about = replace(about, retention=Retention.CUSTOM)
    return about
