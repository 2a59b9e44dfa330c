"""Conversations: a summary of the turns that share a conversation id."""

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
    first_at: datetime  #: time of the earliest turn
    last_at: datetime  #: time of the latest turn
    opening: str  #: the first characters of its first turn
