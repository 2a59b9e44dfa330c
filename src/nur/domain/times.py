"""Stretches of the calendar, and where a text speaks of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date


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
