"""WhatsApp chat exports from Android and iOS."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING

from nur.adapters.files.chats import Message, conversation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nur.adapters.files.source import SourceFile
    from nur.domain.documents import Document

_LINE = re.compile(
    r"\u200e?\[?(\d{1,4})[./-](\d{1,2})[./-](\d{1,4}),? (\d{1,2}):(\d{2})(?::(\d{2}))?"
    r"(?:[ \u202f\u00a0]?([AaPp])\.?[ \u202f\u00a0]?[Mm]\.?)?\]?(?: -)? \u200e?(.*)"
)
_SAID = re.compile(r"([^:\n]{1,100}): (.*)", re.DOTALL)
_CHAT_NAME = re.compile(r"WhatsApp Chat (?:with|mit|-|con|avec|com|met)\s+(.+)", re.IGNORECASE)
_CHECKED_LINES = 30


@dataclass(slots=True)
class _Entry:
    date: tuple[int, int, int]  #: as written
    time: tuple[int, int]
    text: str


def looks_like(text: str) -> bool:
    """Whether the first lines are dated messages, most of them with a speaker."""
    head = text[:8192].splitlines()[:_CHECKED_LINES]
    dated = [match for line in head if (match := _LINE.match(line))]
    return len(dated) >= 2 and sum(_SAID.match(match[8]) is not None for match in dated) * 2 >= len(dated)


def parse(file: SourceFile) -> Iterator[Document]:
    """One document per month, so that a later export leaves earlier documents unchanged."""
    found = _CHAT_NAME.match(file.stem)
    name = found[1] if found else file.stem
    entries = _entries(file.text())
    order = _order(entries)
    messages = [message for entry in entries if (message := _message(entry, order)) is not None]
    for month, group in groupby(messages, key=lambda message: f"{message.at:%Y-%m}"):
        yield conversation(list(group), system="whatsapp", source_id=f"{name}/{month}", title=f"{name}, {month}")


def _entries(text: str) -> list[_Entry]:
    """The messages. A line without a date continues the previous message."""
    entries: list[_Entry] = []
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is not None:
            first, second, third, hour, minute = (int(match[place]) for place in range(1, 6))
            entries.append(_Entry((first, second, third), (_hour(hour, match[7]), minute), match[8]))
        elif entries:
            entries[-1].text += f"\n{line}"
    return entries


def _hour(hour: int, half: str | None) -> int:
    """The hour on a 24-hour clock; `half` is the A or P of AM and PM, if written."""
    if half is None:
        return hour
    return hour % 12 + (12 if half in "Pp" else 0)


def _order(entries: Sequence[_Entry]) -> tuple[int, int, int]:
    """Positions of year, month and day: a number above 12 is not a month. Ambiguous dates are day first."""
    if any(entry.date[0] > 31 for entry in entries):
        return 0, 1, 2
    return (2, 0, 1) if any(entry.date[1] > 12 for entry in entries) else (2, 1, 0)


def _message(entry: _Entry, order: tuple[int, int, int]) -> Message | None:
    """A message; None for a notice by WhatsApp itself, such as a changed key, or an invalid date."""
    said = _SAID.match(entry.text)
    year, month, day = (entry.date[place] for place in order)
    if said is None:
        return None
    try:
        at = datetime(year if year > 99 else 2000 + year, month, day, *entry.time, tzinfo=UTC)
    except ValueError:
        return None
    return Message(said[1], said[2].replace("\u200e", ""), at)
