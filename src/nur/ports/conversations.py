"""ConversationStore: the conversations that turns belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.conversations import Conversation
    from nur.domain.filters import NoteFilter


@dataclass(frozen=True, slots=True)
class ConversationCursor:
    """Where a page of conversations ended."""

    last_at: datetime
    conversation_id: str


class ConversationStore(Protocol):
    """Conversations, read from their turns."""

    async def page(
        self,
        where: NoteFilter,
        now: datetime,
        *,
        limit: int,
        after: ConversationCursor | None = None,
        characters: int,
    ) -> list[Conversation]:
        """Conversations with turns that match, latest first, each with the first characters of its first turn."""
        ...
