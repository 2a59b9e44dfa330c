"""Turns conversations into text: one paragraph per message, with its time and speaker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.adapters.files.source import TextBuilder
from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

#: Messages of longer conversations get no place of their own; their times are still in the text.
MAX_LISTED = 200


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    speaker: str
    text: str
    at: datetime | None = None
    id: str | None = None


def conversation(
    messages: Sequence[Message],
    *,
    system: str,
    source_id: str,
    title: str | None,
    url: str | None = None,
    type_: str = "chat",
) -> Document:
    """A conversation as one document, with `[2026-03-01 14:05] Ada: text` per message. Times are UTC."""
    builder = TextBuilder()
    for message in messages:
        if message.id and len(messages) <= MAX_LISTED:
            builder.place(f"message {message.id}")
        builder.add(paragraph(message.speaker, message.text, stamp(message.at)))
    times = [message.at for message in messages if message.at is not None]
    return Document(
        text=builder.text,
        type=type_,
        title=title,
        participants=tuple(dict.fromkeys(message.speaker for message in messages)),
        occurred_at=min(times, default=None),
        url=url,
        part=source_id,
        source_system=system,
        source_id=source_id,
        places=builder.places,
        metadata={"messages": len(messages)},
    )


def paragraph(speaker: str, text: str, stamp: str) -> str:
    """One message as text. Later lines are indented, so that quoted text does not look like another message."""
    name = " ".join(speaker.replace(":", " ").split())
    return f"{stamp}{name}: " + "\n  ".join(text.strip().splitlines())


def stamp(at: datetime | None) -> str:
    """A message's time, as the prefix of its paragraph; empty if unknown."""
    return "" if at is None else f"[{at:%Y-%m-%d %H:%M}] "
