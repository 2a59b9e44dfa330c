"""Find English time expressions: each rule is a pattern and the function that reads its groups.

The patterns expect lower case. Every repetition has a limit, so matching is linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from nur.retrieval.times import calendars, readings
from nur.retrieval.times.expressions import TimeExpression, any_of
from nur.retrieval.times.readings import MONTHS, NUMBERS, WEEKDAYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nur.domain.times import TimeWindow
    from nur.retrieval.times.expressions import Said
    from nur.retrieval.times.readings import Groups

_NUMBER = rf"(\d{{1,3}}|(?:an? )?(?:{'|'.join(sorted(NUMBERS, key=len, reverse=True))})(?: of)?(?: the)?)"
_ABBREVIATED = r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
_MONTH = rf"({'|'.join(MONTHS)}|(?:{_ABBREVIATED})\b\.?)"
_WEEKDAY = rf"({'|'.join(WEEKDAYS)}|(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b)"
_FULL_WEEKDAY = rf"({'|'.join(WEEKDAYS)})"
_SEASON = r"(spring|summer|fall|autumn|winter)"
_YEAR = r"((?:19|20)\d\d)"
_OF_YEAR = rf"(?:(?: of|,)? {_YEAR})?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_PART = r"(?:(early|mid|late)(?: in)?[ -])?"
_PART_OF = r"(?:the )?((?:first|second) half|beginning|start|middle|end) of"
_TO = r"(?:to|till|until|through|[-–])"
_UNIT = r"(day|week|weekend|month|year|decade)s?"
_ABOUT = r"(?:about |around |almost |nearly |over |more than |roughly )?"


@dataclass(frozen=True, slots=True)
class TimeRule:
    """A pattern, and a function that reads its groups and returns None if they are not a time after all."""

    name: str
    pattern: str
    read: Callable[[Groups, Said], TimeWindow | None]
    is_relative: bool = True


_PERIOD = r"(quarter|week|weekend|month|year|decade)"
_NEAR = r"(this past|this coming|this|last|past|next|coming|upcoming)"
_BEFORE_YEAR = r"(?:in|since|during|of|by|from|until|around|year|early|late|mid)"
_NO_NOUN = r"(?= (?:after|for|at|with|and|to|in|when|but)\b|[.,;!?)]|$)"
_NO_YEAR = r"(?!(?: of|,)? \d)"  # a rule with day or year reads that
_NO_DAY = r"(?! ?\d)"
_NO_DATE = rf"(?!,? (?:the )?(?:\d|{'|'.join(MONTHS)}))"
_UNSURE_MONTHS = r"(?:in|since|during|until|by|from|of|through|around|for|early|mid|late)"

#: The first rule that matches at a position wins, so longer patterns come first.
RULES = (
    TimeRule("day_month", rf"{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?", readings.read_day_month, is_relative=False),
    TimeRule("month_day", rf"{_MONTH} {_DAY}(?:,? {_YEAR})?(?![\d:]| ?%)", readings.read_month_day, is_relative=False),
    TimeRule(
        "days",
        rf"(?:between {_DAY} and|{_DAY} ?{_TO}) ?{_DAY} {_MONTH}(?:,? {_YEAR})?",
        readings.read_days,
        is_relative=False,
    ),
    TimeRule("months", rf"(?:between|from) {_MONTH} (?:and|{_TO}) {_MONTH}{_OF_YEAR}{_NO_DAY}", readings.read_months),
    TimeRule("part_of", rf"{_PART_OF} (?:{_MONTH}{_OF_YEAR}|{_YEAR}){_NO_DAY}", readings.read_part_of),
    TimeRule("month_year", rf"{_PART}{_MONTH}(?: of|,)? {_YEAR}", readings.read_month_year, is_relative=False),
    TimeRule(
        "day_word",
        r"((?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|last night|tomorrow|today|tonight"
        r"|this (?:morning|afternoon|evening))",
        readings.read_day_word,
    ),
    TimeRule("before_last", r"the (week|weekend|month|year) before last", readings.read_before_last),
    TimeRule("after_next", r"the (week|weekend|month|year) after next", readings.read_after_next),
    TimeRule("ago", rf"{_ABOUT}{_NUMBER} (?:{_UNIT}) (?:ago|back|prior|earlier)", readings.read_ago),
    TimeRule("weekdays_ago", rf"{_NUMBER} {_FULL_WEEKDAY}s? ago", readings.read_ago),
    TimeRule("past_period", rf"(?:the |these )(?:past|last) {_NUMBER} {_UNIT}", readings.read_past_period),
    TimeRule("lasting", rf"for {_ABOUT}{_NUMBER} {_UNIT}(?: now| already)", readings.read_ago),  # means when it began
    TimeRule(
        "from_now", rf"(?:in {_ABOUT}{_NUMBER} {_UNIT}(?:'s?|’s?)?(?: time)?)(?! of\b| or\b)", readings.read_from_now
    ),
    TimeRule("days_from_now", rf"{_NUMBER} {_UNIT} from (?:now|today)", readings.read_from_now),
    TimeRule("named", rf"{_NEAR} (?:{_SEASON}|{_PERIOD}|{_WEEKDAY}|{_MONTH})", readings.read_named),
    TimeRule("the_weekend", r"(?:over|on|during|for|at) the weekend", readings.read_the_weekend),
    TimeRule("on_weekday", rf"on {_WEEKDAY}{_NO_DATE}", readings.read_weekday),
    TimeRule("weekday", rf"{_FULL_WEEKDAY}(?!s){_NO_DATE}", readings.read_weekday),
    TimeRule("season_year", rf"{_PART}{_SEASON}(?: of|,)? {_YEAR}", readings.read_season_year, is_relative=False),
    TimeRule("the_season", rf"(?:in|during|over|since) (?:the )?{_SEASON}{_NO_YEAR}", readings.read_the_season),
    TimeRule("some_month", rf"{_UNSURE_MONTHS} {_PART}({'|'.join(MONTHS)}){_NO_YEAR}", readings.read_bare_month),
    TimeRule("month", rf"{_PART}(january|february|july|september|october|november|december)", readings.read_bare_month),
    TimeRule("quarter", rf"q([1-4])(?: of|,)? {_YEAR}", readings.read_quarter, is_relative=False),
    TimeRule("year", rf"{_BEFORE_YEAR} {_YEAR}(?![\d%]|[.,-]\d)", readings.read_bare_year, is_relative=False),
    TimeRule("decade", r"(?:the )?(?:(early|mid|late)[ -])?((?:19|20)\d0)'?s", readings.read_decade, is_relative=False),
    TimeRule("day_of_month", rf"on the (\d{{1,2}})(?:st|nd|rd|th){_NO_NOUN}", readings.read_day_of_month),
)
_RULES = {rule.name: rule for rule in RULES}
_SHORT = "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun".split()
_OTHERS = """early mid late first second beginning start middle end between the day yesterday last tomorrow today
tonight this about around almost nearly over more roughly these for in past coming upcoming next on during at since
until by from of through year q1 q2 q3 q4"""
#: Every expression begins with a number or one of these words; other positions are skipped quickly.
_BEGINNINGS = any_of([*MONTHS, *WEEKDAYS, *NUMBERS, *calendars.SEASONS, *_SHORT, *_OTHERS.split()])
_ANY = re.compile(
    rf"(?<![\w'’-])(?=\d|{_BEGINNINGS}\b)"
    rf"(?:{'|'.join(f'(?P<{rule.name}>{rule.pattern})' for rule in RULES)})(?!\w)"
)
_SIZES = {rule.name: re.compile(rule.pattern).groups for rule in RULES}


def english_times(text: str, start: int, end: int) -> Iterator[TimeExpression]:
    """English time expressions between `start` and `end` of a lower-case text."""
    for match in _ANY.finditer(text, start, end):
        rule = _RULES[match.lastgroup or ""]
        first = match.re.groupindex[rule.name]
        groups = match.groups()[first : first + _SIZES[rule.name]]
        yield TimeExpression(*match.span(), partial(rule.read, groups), rule.is_relative)


_UNITS = "day week weekend month year decade quarter".split()
#: Every expression that a rule reads contains one of these words.
TRIGGERS = frozenset(
    [
        *(*MONTHS, *WEEKDAYS, *_SHORT, *calendars.SEASONS, *_UNITS),
        *(f"{word}s" for word in (*_UNITS, *WEEKDAYS)),
        *"yesterday tomorrow today tonight night morning afternoon evening q1 q2 q3 q4".split(),
        *(str(year) for year in range(1900, 2100)),
        *(f"{year}s" for year in range(1900, 2100, 10)),
        *(f"{day}{end}" for day in range(1, 32) for end in ("st", "nd", "rd", "th")),
    ]
)
#: A sentence with one of these is about the future.
AHEAD = re.compile(
    r"\b(?:will|won't|gonna|going to|plan|plans|planned|planning|see you|upcoming|looking forward|can't wait|soon"
    r"|hop(?:e|ing) to|let's|about to|next|tomorrow|scheduled|due|deadline|must|ha(?:s|ve) to|needs? to|don't forget"
    # Scheduled events: "the train leaves on Friday".
    r"|leaves|departs|arrives|starts|begins|opens|closes|ends|expires|takes place|appointment is)\b|['’]ll\b"
)
