"""Calendar periods relative to a day.

Outside the years 1 to 9999 these functions raise OverflowError or ValueError.
"""

from __future__ import annotations

from datetime import date, timedelta

from nur.domain.times import Grain, TimeWindow

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
SATURDAY = 5
MONTHS_IN_YEAR = 12
#: First month of each season, in the northern hemisphere.
SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
#: A month without a year is at most this many months ahead, else in the past.
MAX_MONTHS_AHEAD = 4


#: Words for a part of a period: which part, of how many equal ones.
_PARTS = {
    "first half": (0, 2),
    "second half": (1, 2),
    **dict.fromkeys(("early", "beginning", "start"), (0, 3)),
    **dict.fromkeys(("mid", "middle"), (1, 3)),
    **dict.fromkeys(("late", "end"), (2, 3)),
}


def days(first: date, count: int = 1, grain: Grain = Grain.DAY) -> TimeWindow:
    """`count` days from `first` on."""
    return TimeWindow(first, first + count * DAY, grain)


def month(year: int, number: int, count: int = 1, grain: Grain = Grain.MONTH) -> TimeWindow:
    """`count` months from month `number` on; a number outside 1 to 12 is in another year."""
    return TimeWindow(_month_start(year, number), _month_start(year, number + count), grain)


def year(number: int, count: int = 1, grain: Grain = Grain.YEAR) -> TimeWindow:
    """`count` years from year `number` on."""
    return TimeWindow(date(number, 1, 1), date(number + count, 1, 1), grain)


def weekend(day: date) -> TimeWindow:
    """The Saturday and Sunday of the week (from Monday) that `day` is in."""
    return days(day + (SATURDAY - day.weekday()) * DAY, 2, Grain.WEEKEND)


def season(year_: int, name: str) -> TimeWindow:
    """The season that begins in this year."""
    return month(year_, SEASONS[name], 3, Grain.SEASON)


def weekday(day: date, number: int, *, ahead: bool) -> TimeWindow:
    """The nearest weekday with this number, strictly after or strictly before `day`; Monday is 0."""
    gap = (number - day.weekday()) % 7 if ahead else -((day.weekday() - number) % 7)
    return days(day + (gap or (7 if ahead else -7)) * DAY)


def relative(unit: str, count: int, said: date) -> TimeWindow:
    """The day, week, weekend, month, year or decade `count` units after that of `said`; before it, if negative.

    "Last week" is the seven days before `said`; "two weeks ago" is the seven days around that day. Both overlap with
    the calendar week that the speaker may mean.
    """
    if unit == "day":
        return days(said + count * DAY)
    if unit == "week":
        return _week(count, said)
    if unit == "weekend":
        return weekend(said + count * WEEK)
    if unit == "month":
        return month(said.year, said.month + count)
    if unit == "decade":
        return year((said.year + 10 * count) // 10 * 10, 10, Grain.DECADE)
    return year(said.year + count)


def _week(count: int, said: date) -> TimeWindow:
    if count == -1:
        return days(said - WEEK, 7, Grain.WEEK)
    if count in (0, 1):
        return days(said - said.weekday() * DAY + count * WEEK, 7, Grain.WEEK)
    return days(said + count * WEEK - 3 * DAY, 7, Grain.WEEK)


def year_of_month(number: int, said: date, *, ahead: bool) -> int:
    """The year of a month that was named without one: the nearest, or the next if `ahead`."""
    gap = (number - said.month) % MONTHS_IN_YEAR
    if not ahead and gap > MAX_MONTHS_AHEAD:
        gap -= MONTHS_IN_YEAR
    return said.year + (said.month - 1 + gap) // MONTHS_IN_YEAR


def part_of(window: TimeWindow, part: str) -> TimeWindow:
    """A part of a window: its first or second half, or its first, middle or last third."""
    index, count = _PARTS[part]
    length = (window.end - window.first) // count
    first = window.first + index * length
    return TimeWindow(first, window.end if index == count - 1 else first + length, window.grain)


def _month_start(year_: int, number: int) -> date:
    return date(year_ + (number - 1) // MONTHS_IN_YEAR, (number - 1) % MONTHS_IN_YEAR + 1, 1)
