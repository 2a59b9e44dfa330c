"""Conversations: what their turns say together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns that share a conversation id."""

    conversation_id: str
    turns: int
    last_turn_index: int
    first_at: datetime  #: when its earliest turn happened
    last_at: datetime  #: when its latest turn happened
    opening: str  #: the beginning of its first turn
