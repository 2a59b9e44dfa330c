"""Find numeric dates: 2026-05-08, 8.5.2026, 2026年5月8日. Those that can be read in two orders are left out."""

from __future__ import annotations

import re
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from nur.retrieval.times import calendars
from nur.retrieval.times.expressions import TimeExpression, is_likely_year

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nur.domain.times import TimeWindow
    from nur.retrieval.times.expressions import Said

_YEAR = r"((?:19|20)\d\d)"
_ISO = re.compile(rf"(?<![\w.-]){_YEAR}([-/.])(\d{{1,2}})\2(\d{{1,2}})(?:(?=t\d\d:)|(?![\w-]))")
_DAY_FIRST = re.compile(rf"(?<![\w.])(\d{{1,2}})([./])(\d{{1,2}})\2{_YEAR}(?!\w|\.\d)")
_AFTER_YEAR = frozenset("-/.")
_BEFORE_YEAR = frozenset("./")
_EAST_ASIAN = re.compile(
    rf"{_YEAR} ?[年년](?: ?(\d{{1,2}}) ?[月월](?: ?(\d{{1,2}}) ?[日号號일])?)?"
    r"|(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日号號일]"
)


def numeric_times(text: str, years: Iterable[int]) -> Iterator[TimeExpression]:
    """Numeric dates in a lower-case text; `years` are the offsets of its years."""
    for at in years:
        if text[at + 4 : at + 5] in _AFTER_YEAR and (match := _ISO.match(text, at)):
            yield _expression(match, match[1], match[3], match[4])
        if text[at - 1 : at] in _BEFORE_YEAR and (match := _DAY_FIRST.search(text, max(0, at - 6), at + 6)):
            first, second = int(match[1]), int(match[3])
            if match[2] == "." or first > 12 or first == second:
                yield _expression(match, match[4], match[3], match[1])
            elif second > 12:
                yield _expression(match, match[4], match[1], match[3])


def east_asian_times(text: str) -> Iterator[TimeExpression]:
    """Dates with the Chinese, Japanese or Korean characters for year, month and day."""
    for match in _EAST_ASIAN.finditer(text):
        yield _expression(match, match[1], match[2] or match[4], match[3] or match[5])


def _expression(match: re.Match[str], year: str | None, month: str | None, day: str | None) -> TimeExpression:
    return TimeExpression(*match.span(), partial(_read, year, month, day), is_relative=False)


def _read(year: str | None, month: str | None, day: str | None, said: Said) -> TimeWindow | None:
    number = int(month) if month else 1
    in_year = int(year) if year else calendars.year_of_month(number, said.day, ahead=said.ahead)
    if not is_likely_year(in_year, said.day):
        return None
    if day:
        return calendars.days(date(in_year, number, int(day)))
    return calendars.month(in_year, number) if month and number <= calendars.MONTHS_IN_YEAR else calendars.year(in_year)
