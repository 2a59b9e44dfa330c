"""Append a turn to a conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.notes import Kind, NoteMetadata

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.access import Caller
    from nur.domain.writes import OnEmbeddingFailure, Stored
    from nur.services.notes.store_note import StoreNote


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
