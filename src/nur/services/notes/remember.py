"""Remember a memory: a small, durable fact, preference, project or decision."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.errors import BadRequest, NotFound
from nur.domain.notes import Kind, NoteMetadata

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.access import Caller
    from nur.domain.notes import Note
    from nur.domain.writes import OnEmbeddingFailure, Stored
    from nur.services.notes.get_note import GetNote
    from nur.services.notes.reviews import Reviews
    from nur.services.notes.store_note import StoreNote


@dataclass(frozen=True, slots=True)
class Remember:
    """Stores a memory; the same text again is the same memory."""

    store: StoreNote
    reviews: Reviews
    get: GetNote

    async def __call__(
        self,
        content: str,
        *,
        type: str,  # noqa: A002  # the specification's name
        confidence: float,
        conversation_id: str | None,
        said_at: datetime | None = None,
        project: str = "",
        replaces: str | None = None,
        caller: Caller,
        on_failure: OnEmbeddingFailure,
    ) -> Stored:
        """Store the memory, said now unless `said_at` states when.

        `replaces` is the id of a memory that it supersedes: that one stays as history and ranks behind. Reports the
        memories that it should be reviewed with. Raises EmbedderDown, Conflict; NotFound for an unknown `replaces`.
        """
        older = None if replaces is None else await self._memory(replaces, caller)
        meta = NoteMetadata(
            type=type,
            confidence=confidence,
            conversation_id=conversation_id,
            occurred_at=said_at,
            project=project,
        )
        stored = await self.store(Kind.MEMORY, content, meta, caller, on_failure)
        if older is not None:
            if older.note_id == stored.note.note_id:
                raise BadRequest("replaces: the memory with this text is the one to be replaced")
            await self.reviews.supersede(stored.note, older, caller)
        return replace(stored, similar=tuple(one for one in stored.similar if one.public_id != replaces))

    async def _memory(self, public_id: str, caller: Caller) -> Note:
        note = await self.get(public_id, caller)
        if note.kind is not Kind.MEMORY:
            raise NotFound(f"Memory {public_id} not found")
        return note
