"""Time expressions of other languages, from a table: `release/time_words.py` makes it."""

from __future__ import annotations

import json
import re
from datetime import date
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from nur.retrieval.text.analysis import split_words
from nur.retrieval.times import calendars
from nur.retrieval.times.expressions import TimeExpression, any_of, is_likely_year

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.domain.times import TimeWindow
    from nur.retrieval.times.expressions import Said

COUNT = "#"  #: where a phrase has a number
#: Scripts that write words without blanks between, or join particles to them: phrases are found inside runs of letters.
JOINED = r"\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
#: "Hier" is "here" in German and Dutch, and "morgen" is a greeting: what must, or must not, stand beside them.
_FRENCH = re.compile(r"\b(?:je|j|nous|le|la|les|est|il|elle|avec|du|une|pas|mon|ma|on a|avons)\b")
_NUMBERS = re.compile(r"\d+|[^\W\d]+")
_GREETING = re.compile(r"(?:guten|goede|heute|gestern) $")


class Words(NamedTuple):
    """The table, and patterns for it."""

    phrases: dict[str, tuple[str, int]]  #: to a unit and a step; with a number, to its direction
    months: dict[str, int]
    numbers: dict[str, int]
    spaced: re.Pattern[str]  #: phrases of scripts with blanks
    joined: re.Pattern[str]
    dates: re.Pattern[str]  #: day, month, year
    triggers: frozenset[bytes]  #: each phrase of the scripts with blanks has one of these words


@cache
def words() -> Words:
    """The table, read once."""
    table = json.loads((files("nur.retrieval.times") / "words.json").read_text(encoding="utf-8"))
    phrases, months, numbers = table["phrases"], table["months"], table["numbers"]
    is_joined = re.compile(f"[{JOINED}]")
    spaced = [phrase for phrase in phrases if not is_joined.search(phrase)]
    joined = [phrase for phrase in phrases if is_joined.search(phrase)]
    count = rf"(?:\d{{1,3}}|{'|'.join(sorted(numbers, key=len, reverse=True))})"
    month = f"({any_of(months)})"
    day_first = rf"(\d{{1,2}})(?:\.|º|\.º|er)?(?: de| d'| di)? {month}(?:(?: de| del|,)? ((?:19|20)\d\d))?"
    return Words(
        phrases=phrases | {phrase.replace(" ", ""): phrases[phrase] for phrase in joined},
        months=months,
        numbers=numbers,
        spaced=re.compile(rf"(?<![\w-])(?:{any_of(spaced, **{COUNT: count})})(?![\w-])"),
        joined=re.compile(any_of(joined, **{COUNT: r"\d{1,3}", " ": " ?"})),
        dates=re.compile(rf"(?<![\w-]){day_first}(?!\w)"),
        triggers=frozenset(max(split_words(phrase), key=len) for phrase in [*spaced, *months]),
    )


def spaced_times(low: str, start: int, end: int) -> Iterator[TimeExpression]:
    """Phrases and dates of languages with blanks, in a stretch of a text in small letters."""
    table = words()
    for match in table.dates.finditer(low, start, end):
        yield TimeExpression(
            *match.span(), partial(_date, match[1], table.months[match[2]], match[3]), is_relative=False
        )
    for match in table.spaced.finditer(low, start, end):
        if _is_meant(low, match):
            yield TimeExpression(*match.span(), partial(_relative, match[0]))


def joined_times(low: str) -> Iterator[TimeExpression]:
    """Phrases of languages without blanks, in a whole text."""
    for match in words().joined.finditer(low):
        yield TimeExpression(*match.span(), partial(_relative, match[0].replace(" ", "")))


def _relative(phrase: str, said: Said) -> TimeWindow:
    table = words()
    if phrase in table.phrases:
        unit, step = table.phrases[phrase]
        return calendars.relative(unit, step, said.day)
    number = next(word for word in _NUMBERS.findall(phrase) if word.isdigit() or word in table.numbers)
    unit, step = table.phrases[phrase.replace(number, COUNT, 1)]
    return calendars.relative(unit, step * (int(number) if number.isdigit() else table.numbers[number]), said.day)


def _date(day: str, month: int, year: str | None, said: Said) -> TimeWindow | None:
    of = int(year) if year else calendars.year_of_month(month, said.day, ahead=said.ahead)
    return calendars.days(date(of, month, int(day))) if is_likely_year(of, said.day) else None


def _is_meant(low: str, match: re.Match[str]) -> bool:
    if match[0] == "hier":
        around = low[max(0, match.start() - 80) : match.end() + 80]
        return _FRENCH.search(around) is not None
    return match[0] != "morgen" or _GREETING.search(low[max(0, match.start() - 8) : match.start()]) is None
