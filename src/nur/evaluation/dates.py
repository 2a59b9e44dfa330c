"""Metrics for questions that ask when: the date shown with a hit must be the right one."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from nur.domain.times import Grain, TimeWindow
from nur.retrieval.times.find import find_times

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nur.evaluation.dataset import LabelledQuestion, Row
    from nur.evaluation.measures import Scores


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NAME = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY_MONTH = re.compile(rf"(\d{{1,2}})(?:st|nd|rd|th)? ?{_NAME},? (\d{{4}})")
_MONTH_DAY = re.compile(rf"{_NAME} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})")
_MONTH = re.compile(rf"{_NAME},? (\d{{4}})")
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_RELATIVE = re.compile(r"(one|two|three|four|five|six|\d+|a few)? ?([a-z]+?)s? (before|after|of|following|prior to) ")
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "a few": 3}

TIMED = "timed_recall@10"  #: recall@10 of questions that name a time
DATE_METRICS = ("date_given_gold", "date@1", "date@3", TIMED)
_ASKS_WHEN = re.compile(r"(?:when|(?:which|what) (?:date|day|week|month|year))\b", re.IGNORECASE)
#: Reference day for row dates in words. They are full dates, so it does not matter.
_ANY_DAY = date(2040, 1, 1)


def gold_window(answer: str) -> TimeWindow | None:
    """The days that an answer names; None if it is not a date."""
    low = " ".join(answer.lower().split())
    try:
        match = _exact_day(low)
        if match is None:
            return _month_or_year(low)
        day, at = match
        relative = _RELATIVE.search(low[:at])
        return (
            TimeWindow(day, day + timedelta(days=1), Grain.DAY) if relative is None else _relative_window(day, relative)
        )
    except (ValueError, OverflowError):
        return None


def is_right(said: TimeWindow, gold: TimeWindow) -> bool:
    """Whether at least half of the stated window lies in the gold window."""
    shared = min(said.end, gold.end) - max(said.first, gold.first)
    return 2 * shared >= said.end - said.first


def _exact_day(low: str) -> tuple[date, int] | None:
    """A date with its day, and its offset in the text."""
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


def _relative_window(day: date, match: re.Match[str]) -> TimeWindow | None:
    """Window relative to a day: two weeks before, the Friday after, the weekend of."""
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


def row_moment(value: Any) -> datetime | None:
    """Time of a row in UTC, from ISO 8601 or from words ("1:56 pm on 8 May, 2023"); None if there is none."""
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        named = find_times(str(value or ""), _ANY_DAY)
        return datetime.combine(named[0].window.first, time(12), UTC) if named else None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def last_said(rows: Iterable[Row], scope: str | None) -> datetime | None:
    """Time of the last row of a scope; None if no row is dated."""
    dates = (row_moment(row.meta.get("date")) for row in rows if scope in (None, row.scope))
    return max((date for date in dates if date is not None), default=None)


def shown_window(text: str, said: date) -> TimeWindow:
    """Date shown with a text: the first time it names, else the day it was said."""
    named = find_times(text, said)
    return named[0].window if named else TimeWindow(said, said + timedelta(days=1), Grain.DAY)


def date_scores(question: LabelledQuestion, shown: Sequence[TimeWindow], rows: Mapping[str, Row]) -> Scores:
    """Whether the dates shown with the best hits and with the gold row are right; empty for other questions."""
    gold = gold_window(question.answer) if _ASKS_WHEN.match(question.text) else None
    row = rows.get(next(iter(question.units), ""))
    said = row_moment(row.meta.get("date")) if row is not None else None
    if gold is None or row is None or said is None:
        return {}
    of_gold_row = shown_window(row.text, said.date())
    return {
        "date_given_gold": float(is_right(of_gold_row, gold)),
        "date@1": float(any(is_right(window, gold) for window in shown[:1])),
        "date@3": float(any(is_right(window, gold) for window in shown[:3])),
    }
