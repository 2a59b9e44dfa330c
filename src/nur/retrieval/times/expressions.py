"""What a rule has found in a text, before it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from nur.domain.times import TimeWindow

FIRST_YEAR = 1900
YEARS_AHEAD = 20


@dataclass(frozen=True, slots=True)
class Said:
    """When a text was said, and which way the sentence looks."""

    day: date
    ahead: bool  #: it speaks of what is to come


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A stretch of a text that may name a time."""

    start: int
    end: int
    read: Callable[[Said], TimeWindow | None]  #: None, or ValueError and OverflowError: it names no time after all
    is_relative: bool = True


def is_likely_year(number: int, said: date) -> bool:
    """Whether people speak of such a year; other numbers are amounts, models or ports."""
    return FIRST_YEAR <= number <= said.year + YEARS_AHEAD
