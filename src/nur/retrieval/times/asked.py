"""What a question says about time: the stretch that it asks about, and whether it asks when."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from nur.retrieval.times import calendars
from nur.retrieval.times.find import find_times

if TYPE_CHECKING:
    from nur.domain.times import TimeWindow

_ASKS_WHEN = re.compile(
    r"\s*(?:(?:and|so|but) )?(?:when|since when|how long ago|(?:on |in )?(?:what|which) (?:date|day|week|month|year)"
    r"|wann|seit wann|quand|depuis quand|cuándo|quando|wanneer|когда|πότε|ne zaman|kiedy|متى|कब|khi nào)\b"
    r"|.{0,40}(?:เมื่อไร|什么时候|什麼時候|何时|いつ|언제)",
    re.IGNORECASE,
)
_YEAR_OR_MONTH = re.compile(r"\s*(\d{4})(?:-(\d\d?))?\s*")


@dataclass(frozen=True, slots=True)
class AskedTime:
    """Nothing, for most questions."""

    windows: tuple[TimeWindow, ...] = ()
    asks_when: bool = False


def asked_time(question: str, when: str | None, today: date) -> AskedTime:
    """What a question, or `when` beside it, says about time; relative times are counted from `today`."""
    windows = tuple(one.window for one in find_times(question, today)) if when is None else stated_windows(when, today)
    return AskedTime(windows, _ASKS_WHEN.match(question) is not None)


def stated_windows(when: str, today: date) -> tuple[TimeWindow, ...]:
    """The stretches that `when` names: 2026, 2026-05, 2026-05-07, or words; none where it names no time."""
    if match := _YEAR_OR_MONTH.fullmatch(when):
        try:
            first = date(int(match[1]), int(match[2] or 1), 1)
            return (calendars.month(first.year, first.month) if match[2] else calendars.year(first.year),)
        except (ValueError, OverflowError):
            return ()
    return tuple(one.window for one in find_times(when, today))
