"""Read English time expressions: each function turns the groups of one pattern of `english` into a window."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, TypeAlias

from nur.domain.times import Grain, TimeWindow
from nur.retrieval.times import calendars
from nur.retrieval.times.calendars import DAY, WEEK
from nur.retrieval.times.expressions import is_likely_year

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.retrieval.times.expressions import Said

Groups: TypeAlias = "Sequence[str | None]"

MONTHS = "january february march april may june july august september october november december".split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH_NUMBERS = {name[:3]: number for number, name in enumerate(MONTHS, 1)}
_WEEKDAY_NUMBERS = {name[:3]: number for number, name in enumerate(WEEKDAYS)}
NUMBERS = {
    word: number
    for number, words in enumerate(
        ("", "a an one", "two couple", "three few", "four", "five several", "six", "seven", "eight", "nine", "ten")
    )
    for word in words.split()
} | {"eleven": 11, "twelve": 12}
#: Units that a vague number may be larger: "a few" is three to five.
VAGUE = {"few": 2, "several": 3}


def _month_number(name: str) -> int:
    return _MONTH_NUMBERS[name[:3]]


def _weekday_number(name: str) -> int:
    return _WEEKDAY_NUMBERS[name[:3]]


def _count(words: str) -> tuple[int, int]:
    """The number, and by how much it may be larger."""
    last = words.removesuffix(" the").removesuffix(" of").split()[-1]
    return (int(last) if last.isdigit() else NUMBERS[last]), VAGUE.get(last, 0)


def _date(day: str, month: str, year: str | None, said: Said) -> TimeWindow | None:
    number = _month_number(month)
    in_year = int(year) if year else calendars.year_of_month(number, said.day, ahead=said.ahead)
    return calendars.days(date(in_year, number, int(day))) if is_likely_year(in_year, said.day) else None


def read_day_month(groups: Groups, said: Said) -> TimeWindow | None:
    """7 May 2023."""
    day, month, year = groups
    return _date(day or "", month or "", year, said)


def read_month_day(groups: Groups, said: Said) -> TimeWindow | None:
    """May 7, 2023."""
    month, day, year = groups
    return _date(day or "", month or "", year, said)


def read_month_year(groups: Groups, said: Said) -> TimeWindow | None:
    """Early May 2023."""
    part, month, year = groups
    window = calendars.month(int(year or 0), _month_number(month or ""))
    return (calendars.part_of(window, part) if part else window) if is_likely_year(int(year or 0), said.day) else None


def read_days(groups: Groups, said: Said) -> TimeWindow | None:
    """24 to 26 November 2026."""
    between, first, last, month, year = groups
    start, end = (_date(day or "", month or "", year, said) for day in (between or first, last))
    return TimeWindow(start.first, end.end, Grain.DAY) if start and end and start.first < end.first else None


def read_months(groups: Groups, said: Said) -> TimeWindow | None:
    """Between April and June 2026: with both months; without a year, until the nearest such June."""
    first, last, year = (_month_number(groups[0] or ""), _month_number(groups[1] or ""), groups[2])
    in_year = int(year) if year else calendars.year_of_month(last, said.day, ahead=said.ahead)
    start = calendars.month(in_year - (first > last), first)
    return TimeWindow(start.first, calendars.month(in_year, last).end, Grain.MONTH)


def read_part_of(groups: Groups, said: Said) -> TimeWindow | None:
    """The second half of October; the end of 2025."""
    part, month, year, bare_year = groups
    if bare_year:
        window = calendars.year(int(bare_year))
    else:
        number = _month_number(month or "")
        window = calendars.month(int(year or calendars.year_of_month(number, said.day, ahead=said.ahead)), number)
    return calendars.part_of(window, part or "") if is_likely_year(window.first.year, said.day) else None


_DAY_WORDS = {
    "the day before yesterday": -2,
    "day before yesterday": -2,
    "the day after tomorrow": 2,
    "day after tomorrow": 2,
    "yesterday": -1,
    "last night": -1,
    "tomorrow": 1,
}


def read_day_word(groups: Groups, said: Said) -> TimeWindow:
    """Yesterday, tonight."""
    return calendars.days(said.day + _DAY_WORDS.get(groups[0] or "", 0) * DAY)


def read_ago(groups: Groups, said: Said) -> TimeWindow:
    """Two weeks ago; three Fridays ago."""
    count, more = _count(groups[0] or "")
    unit = groups[1] or ""
    if unit in WEEKDAYS:
        nearest = calendars.weekday(said.day, _weekday_number(unit), ahead=False)
        return calendars.days(nearest.first - (count - 1) * WEEK)
    near, far = calendars.relative(unit, -count, said.day), calendars.relative(unit, -count - more, said.day)
    return TimeWindow(far.first, near.end, near.grain)


def read_from_now(groups: Groups, said: Said) -> TimeWindow:
    """In two weeks."""
    count, more = _count(groups[0] or "")
    near, far = (calendars.relative(groups[1] or "", number, said.day) for number in (count, count + more))
    return TimeWindow(near.first, far.end, near.grain)


def read_past_period(groups: Groups, said: Said) -> TimeWindow:
    """The last two weeks: from their beginning until today."""
    count, more = _count(groups[0] or "")
    start = calendars.relative(groups[1] or "", -count - more, said.day)
    return TimeWindow(start.first, said.day + DAY, start.grain)


_STEP = {"this past": -1, "last": -1, "past": -1, "this": 0, "this coming": 1, "coming": 1, "next": 1, "upcoming": 1}


def read_named(groups: Groups, said: Said) -> TimeWindow | None:
    """Last Friday, this summer, next May, last week."""
    step, name = _STEP[groups[0] or ""], next(group for group in groups[1:] if group).rstrip(".")
    if name in calendars.SEASONS:
        return _season_near(name, step, said)
    if name == "quarter":
        return calendars.month(said.day.year, (said.day.month - 1) // 3 * 3 + 1 + 3 * step, 3, Grain.QUARTER)
    if name == "weekend" and "coming" in (groups[0] or "") and said.day.weekday() < calendars.SATURDAY:
        step = 0  # this week's is still ahead
    if name in ("day", "week", "weekend", "month", "year", "decade"):
        return calendars.relative(name, step, said.day)
    if name[:3] in _WEEKDAY_NUMBERS:
        return _weekday_near(_weekday_number(name), step, said)
    return _month_near(_month_number(name), step, said)


def _weekday_near(number: int, step: int, said: Said) -> TimeWindow:
    if step:
        return calendars.weekday(said.day, number, ahead=step > 0)
    return calendars.days(said.day + (number - said.day.weekday()) * DAY)


def _month_near(number: int, step: int, said: Said) -> TimeWindow:
    year = said.day.year
    if step < 0:
        year -= number >= said.day.month
    elif step > 0:
        year += number <= said.day.month
    return calendars.month(year, number)


def _season_near(name: str, step: int, said: Said) -> TimeWindow:
    window = calendars.season(said.day.year, name)
    if step == 0 and said.day < window.first and name == "winter" and said.day.month <= 2:
        return calendars.season(said.day.year - 1, name)
    if step < 0 and said.day < window.end:
        window = calendars.season(said.day.year - 1, name)
        return window if said.day >= window.end else calendars.season(said.day.year - 2, name)
    return calendars.season(said.day.year + 1, name) if step > 0 and said.day >= window.first else window


def read_before_last(groups: Groups, said: Said) -> TimeWindow:
    """The week before last."""
    return calendars.relative(groups[0] or "", -2, said.day)


def read_after_next(groups: Groups, said: Said) -> TimeWindow:
    """The week after next."""
    return calendars.relative(groups[0] or "", 2, said.day)


def read_the_weekend(_groups: Groups, said: Said) -> TimeWindow:
    """Over the weekend: the last one, unless the sentence is about the future."""
    return calendars.relative("weekend", 0 if said.ahead or said.day.weekday() >= calendars.SATURDAY else -1, said.day)


def read_weekday(groups: Groups, said: Said) -> TimeWindow:
    """On Friday: the last one, unless the sentence is about the future."""
    return calendars.weekday(said.day, _weekday_number(groups[0] or ""), ahead=said.ahead)


def read_season_year(groups: Groups, said: Said) -> TimeWindow | None:
    """Summer of 2022."""
    part, name, year = groups
    window = calendars.season(int(year or 0), name or "")
    return (calendars.part_of(window, part) if part else window) if is_likely_year(int(year or 0), said.day) else None


def read_the_season(groups: Groups, said: Said) -> TimeWindow:
    """In the summer: the last one that began, unless the sentence is about the future."""
    window = calendars.season(said.day.year, groups[0] or "")
    if said.ahead or said.day >= window.first:
        return window
    return calendars.season(said.day.year - 1, groups[0] or "")


def read_bare_month(groups: Groups, said: Said) -> TimeWindow:
    """In May: the nearest one."""
    part, month = groups
    number = _month_number(month or "")
    window = calendars.month(calendars.year_of_month(number, said.day, ahead=said.ahead), number)
    return calendars.part_of(window, part) if part else window


def read_bare_year(groups: Groups, said: Said) -> TimeWindow | None:
    """In 2019."""
    number = int(groups[0] or 0)
    return calendars.year(number) if is_likely_year(number, said.day) else None


def read_decade(groups: Groups, _said: Said) -> TimeWindow | None:
    """The 1990s."""
    part, number = groups
    window = calendars.year(int(number or 0), 10, Grain.DECADE)
    return calendars.part_of(window, part) if part else window


def read_day_of_month(groups: Groups, said: Said) -> TimeWindow:
    """On the 15th: the last one, or the next if the sentence is about the future."""
    day = int(groups[0] or 0)
    step = (day < said.day.day) if said.ahead else -(day > said.day.day)
    first = calendars.month(said.day.year, said.day.month + step).first
    return calendars.days(first.replace(day=day))


def read_quarter(groups: Groups, said: Said) -> TimeWindow | None:
    """Q3 2025."""
    number, year = int(groups[0] or 0), int(groups[1] or 0)
    return calendars.month(year, 3 * number - 2, 3, Grain.QUARTER) if is_likely_year(year, said.day) else None
