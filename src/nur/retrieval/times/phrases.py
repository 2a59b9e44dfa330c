"""Find time expressions of other languages, from a table that `release/time_words.py` generates."""

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

COUNT = "#"  #: placeholder of a number in a phrase
#: Scripts without blanks between words, or with attached particles: phrases are found inside runs of letters.
JOINED = r"\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
#: French words that must be near "hier", which is "here" in German and Dutch.
_FRENCH = re.compile(r"\b(?:je|j|nous|le|la|les|est|il|elle|avec|du|une|pas|mon|ma|on a|avons)\b")
_NUMBERS = re.compile(r"\d+|[^\W\d]+")
#: What "morgen" must not follow: "guten Morgen" is a greeting, "heute Morgen" is this morning.
_GREETING = re.compile(r"(?:guten|goede|heute|gestern) $")


class Words(NamedTuple):
    """The table, and patterns that find its phrases."""

    phrases: dict[str, tuple[str, int]]  #: unit, and step in units; of a phrase with a number, the direction
    months: dict[str, int]
    numbers: dict[str, int]
    spaced: re.Pattern[str]  #: finds phrases of scripts with blanks
    joined: re.Pattern[str]  #: finds phrases of scripts without blanks
    dates: re.Pattern[str]  #: finds dates: day, month, year
    triggers: frozenset[bytes]  #: every phrase of scripts with blanks contains one of these words


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


def spaced_times(text: str, start: int, end: int) -> Iterator[TimeExpression]:
    """Phrases and dates of languages with blanks, between `start` and `end` of a lower-case text."""
    table = words()
    for match in table.dates.finditer(text, start, end):
        yield TimeExpression(
            *match.span(), partial(_date, match[1], table.months[match[2]], match[3]), is_relative=False
        )
    for match in table.spaced.finditer(text, start, end):
        if _is_meant(text, match):
            yield TimeExpression(*match.span(), partial(_relative, match[0]))


def joined_times(text: str) -> Iterator[TimeExpression]:
    """Phrases of languages without blanks, in a whole lower-case text."""
    for match in words().joined.finditer(text):
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
    in_year = int(year) if year else calendars.year_of_month(month, said.day, ahead=said.ahead)
    return calendars.days(date(in_year, month, int(day))) if is_likely_year(in_year, said.day) else None


def _is_meant(text: str, match: re.Match[str]) -> bool:
    """Whether an ambiguous word is a time here; True for all others."""
    if match[0] == "hier":
        nearby = text[max(0, match.start() - 80) : match.end() + 80]
        return _FRENCH.search(nearby) is not None
    return match[0] != "morgen" or _GREETING.search(text[max(0, match.start() - 8) : match.start()]) is None
