"""Remember a memory: a small, durable fact, preference, project or decision."""

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
class Remember:
    """Stores a memory; the same text again is the same memory."""

    store: StoreNote

    async def __call__(
        self,
        content: str,
        *,
        type: str,  # noqa: A002  # the specification's name
        confidence: float,
        conversation_id: str | None,
        said_at: datetime | None = None,
        project: str = "",
        caller: Caller,
        on_failure: OnEmbeddingFailure,
    ) -> Stored:
        """Store the memory, said now unless `said_at` states when. Raises EmbedderDown, Conflict."""
        meta = NoteMetadata(
            type=type,
            confidence=confidence,
            conversation_id=conversation_id,
            occurred_at=said_at,
            project=project,
        )
        return await self.store(Kind.MEMORY, content, meta, caller, on_failure)
