"""Add a note."""

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
class AddNote:
    """Stores a note under its key, else its source's id, else its text."""

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
        """Store the note. Raises BadRequest, EmbedderDown, KeyRefused, Conflict."""
        stated = replace(stated, expires_at=end(stated.expires_at, ttl_days, self.clock.now()))
        return await self.store(Kind.NOTE, text, meta, caller, on_failure, stated=stated)
