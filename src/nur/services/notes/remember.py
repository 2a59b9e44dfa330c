"""Remember a memory: a small, durable fact, preference, project or decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.notes import Kind, NoteMetadata
from nur.domain.writes import Draft, Protection

if TYPE_CHECKING:
    from nur.domain.notes import Principal
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
        principal: Principal,
        on_failure: OnEmbeddingFailure,
    ) -> Stored:
        """Store the memory. Raises EmbedderDown, Conflict."""
        meta = NoteMetadata(type=type, confidence=confidence, conversation_id=conversation_id)
        draft = Draft(kind=Kind.MEMORY, text=content, meta=meta, stated=Protection())
        return await self.store(draft, principal, on_failure)
