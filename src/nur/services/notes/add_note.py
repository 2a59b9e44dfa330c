"""Add a note, an event (a note of something that happened at a time) or a turn of a conversation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.drafting import requested_expiry
from nur.domain.notes import Kind, NoteMetadata

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.access import Caller
    from nur.domain.writes import OnEmbeddingFailure, Protection, Stored
    from nur.ports.clock import Clock
    from nur.services.notes.store_note import StoreNote


@dataclass(frozen=True, slots=True)
class AddNote:
    """Stores a note under its key, else its source's id, else its text; an event's time identifies it, too."""

    store: StoreNote
    clock: Clock
    kind: Kind = Kind.NOTE  #: or EVENT

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
        """Store it; an event without a time happened now. Raises BadRequest, EmbedderDown, KeyRefused, Conflict."""
        now = self.clock.now()
        if self.kind is Kind.EVENT:
            meta = replace(meta, occurred_at=meta.occurred_at or now)
        stated = replace(stated, expires_at=requested_expiry(stated.expires_at, ttl_days, now))
        return await self.store(self.kind, text, meta, caller, on_failure, stated=stated)


@dataclass(frozen=True, slots=True)
class AppendTurn:
    """Stores a turn of a conversation; the same text there again is a no-op, another text replaces it."""

    store: StoreNote

    async def __call__(
        self,
        conversation_id: str,
        turn_index: int,
        *,
        role: str,
        content: str,
        said_at: datetime | None = None,
        project: str = "",
        caller: Caller,
        on_failure: OnEmbeddingFailure,
    ) -> Stored:
        """Store the turn, said now unless `said_at` states when. Raises EmbedderDown, Conflict."""
        meta = NoteMetadata(
            conversation_id=conversation_id, turn_index=turn_index, role=role, occurred_at=said_at, project=project
        )
        return await self.store(Kind.TURN, content, meta, caller, on_failure)
