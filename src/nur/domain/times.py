"""Stretches of the calendar, and where a text speaks of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date


_MONTHS_IN_YEAR = 12


class Grain(StrEnum):
    """How exact a time is."""

    DAY = "day"
    WEEK = "week"
    WEEKEND = "weekend"
    MONTH = "month"
    SEASON = "season"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Days on the calendar of the store's zone."""

    first: date
    end: date  #: the day after the last
    grain: Grain

    @property
    def last(self) -> date:
        """The last day."""
        return self.end - timedelta(days=1)

    def __str__(self) -> str:
        """2026-05-07, 2026-05, 2026, or the first and the last day."""
        if self.last == self.first:
            return str(self.first)
        months = 12 * (self.end.year - self.first.year) + self.end.month - self.first.month
        if self.first.day == self.end.day == 1 and months == 1:
            return f"{self.first:%Y-%m}"
        is_year = (self.first.month, self.first.day, self.end.month, self.end.day) == (1, 1, 1, 1)
        return f"{self.first:%Y}" if is_year and months == _MONTHS_IN_YEAR else f"{self.first} to {self.last}"

    def overlaps(self, other: TimeWindow) -> bool:
        """Whether they share a day."""
        return self.first < other.end and other.first < self.end


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time that a text names: `text[start_char:end_char]` means `window`."""

    start_char: int
    end_char: int
    window: TimeWindow
    is_relative: bool  #: counted from when the text was said ("yesterday"), not from the calendar alone
