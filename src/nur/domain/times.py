"""Times: parsed moments, calendar windows, and mentions of them in a text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from datetime import tzinfo


_MONTHS_IN_YEAR = 12

Zone: TypeAlias = "tzinfo | None"  #: the store's time zone; None: the system's

NOON = time(12)
EXAMPLES = "an ISO 8601 time such as 2025-12-25T10:30:00Z, or a date such as 2025-12-25"
LIMITS = "between the years 2 and 9998"
_FIRST_YEAR, _LAST_YEAR = 2, 9998  # in any time zone these stay within datetime's range


class Grain(StrEnum):
    """Precision of a time."""

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
    """A range of days in the store's time zone."""

    first: date
    end: date  #: exclusive
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
        """Whether the two windows share a day."""
        return self.first < other.end and other.first < self.end


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time that a text names: `text[start_char:end_char]` means `window`."""

    start_char: int
    end_char: int
    window: TimeWindow
    is_relative: bool  #: relative to when the text was said ("yesterday"), not an absolute date


def parse_moment(text: str) -> datetime:
    """Parse a time. A date alone becomes noon; a time without an offset stays without a zone.

    Raises ValueError with a message for the caller.
    """
    try:
        moment = datetime.combine(date.fromisoformat(text), NOON)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError(f"must be {EXAMPLES}") from None
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ValueError(f"must lie {LIMITS}")
    return moment


def in_utc(moment: datetime, zone: Zone) -> datetime:
    """Convert a time to UTC; without an offset it is taken to be in `zone`."""
    if moment.tzinfo is None and zone is not None:
        moment = moment.replace(tzinfo=zone)
    return moment.astimezone(UTC)


def day_of(moment: datetime, zone: Zone) -> date:
    """Return the calendar day of a moment in `zone`."""
    return moment.astimezone(zone).date()
