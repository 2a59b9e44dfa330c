"""Dates in the answers of a data set, read on their own: what is measured must not read its own gold."""

from __future__ import annotations

import re
from datetime import date, timedelta

from nur.domain.times import Grain, TimeWindow

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NAME = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY_MONTH = re.compile(rf"(\d{{1,2}})(?:st|nd|rd|th)? ?{_NAME},? (\d{{4}})")
_MONTH_DAY = re.compile(rf"{_NAME} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})")
_MONTH = re.compile(rf"{_NAME},? (\d{{4}})")
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_BESIDE = re.compile(r"(one|two|three|four|five|six|\d+|a few)? ?([a-z]+?)s? (before|after|of|following|prior to) ")
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "a few": 3}


def gold_window(answer: str) -> TimeWindow | None:
    """The days that an answer names; None where it is no date."""
    low = " ".join(answer.lower().split())
    try:
        found = _exact_day(low)
        if found is None:
            return _month_or_year(low)
        day, at = found
        beside = _BESIDE.search(low[:at])
        return TimeWindow(day, day + timedelta(days=1), Grain.DAY) if beside is None else _beside(day, beside)
    except (ValueError, OverflowError):
        return None


def is_right(said: TimeWindow, gold: TimeWindow) -> bool:
    """Whether at least half of what was said lies in the gold."""
    shared = min(said.end, gold.end) - max(said.first, gold.first)
    return 2 * shared >= said.end - said.first


def _exact_day(low: str) -> tuple[date, int] | None:
    """A date with its day, and where it stands."""
    if match := _DAY_MONTH.search(low):
        return date(int(match[3]), _MONTHS.index(match[2]) + 1, int(match[1])), match.start()
    if match := _MONTH_DAY.search(low):
        return date(int(match[3]), _MONTHS.index(match[1]) + 1, int(match[2])), match.start()
    return None


def _month_or_year(low: str) -> TimeWindow | None:
    if match := _MONTH.search(low):
        number = int(match[2]) * 12 + _MONTHS.index(match[1])
        return TimeWindow(_first_of(number), _first_of(number + 1), Grain.MONTH)
    if match := _YEAR.search(low):
        return TimeWindow(date(int(match[1]), 1, 1), date(int(match[1]) + 1, 1, 1), Grain.YEAR)
    return None


def _beside(day: date, match: re.Match[str]) -> TimeWindow | None:
    """Two weeks before, the Friday after, the weekend of a day."""
    count = _NUMBERS.get(match[1] or "one") or int(match[1])
    sign = {"before": -1, "prior to": -1, "of": 0}.get(match[3], 1)
    unit = match[2]
    if unit[:3] in _WEEKDAYS and unit.endswith("day"):
        gap = (_WEEKDAYS.index(unit[:3]) - day.weekday()) % 7
        return _days(day + timedelta(days=(gap - 7 if sign < 0 else gap or 7)))
    if unit == "weekend":
        saturday = day + timedelta(days=5 - day.weekday() + 7 * (sign * count if sign < 0 else max(0, count - 1)))
        return _days(saturday, 2)
    if unit == "week":
        return _weeks(day, count, sign)
    if unit == "month":
        number = day.year * 12 + day.month - 1 + sign * count
        return TimeWindow(_first_of(number), _first_of(number + 1), Grain.MONTH)
    if unit == "year":
        return TimeWindow(date(day.year + sign * count, 1, 1), date(day.year + sign * count + 1, 1, 1), Grain.YEAR)
    return _days(day + timedelta(days=sign * count)) if unit in ("day", "night") else _days(day)


def _weeks(day: date, count: int, sign: int) -> TimeWindow:
    if sign == 0:
        return _days(day - timedelta(days=day.weekday()), 7)
    if count == 1:
        return _days(day + timedelta(days=1 if sign > 0 else -7), 7)
    return _days(day + timedelta(days=7 * sign * count - 3), 7)


def _days(first: date, count: int = 1) -> TimeWindow:
    return TimeWindow(first, first + timedelta(days=count), Grain.DAY)


def _first_of(months: int) -> date:
    return date(months // 12, months % 12 + 1, 1)
