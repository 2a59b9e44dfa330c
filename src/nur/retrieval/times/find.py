"""Find the times that a text, a note, a question or the passages of hits name.

Relative times are counted from the day on which the text was said, or the question asked.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial
from sys import maxsize
from typing import TYPE_CHECKING

from nur.domain.derivations import Deriver, TimeRow
from nur.domain.times import TimeMention, day_of
from nur.retrieval.text.analysis import split_words
from nur.retrieval.times import calendars
from nur.retrieval.times.english import AHEAD, TRIGGERS, english_times
from nur.retrieval.times.expressions import Said
from nur.retrieval.times.numeric import east_asian_times, numeric_times
from nur.retrieval.times.phrases import JOINED, joined_times, spaced_times, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nur.domain.notes import Note
    from nur.domain.search import Hit, Passage
    from nur.domain.times import TimeWindow, Zone
    from nur.retrieval.times.expressions import TimeExpression


#: Characters before and after the start of a trigger word that its expression may reach.
REACH = 48
REACH_BEHIND = 32
#: The same of a year: "late in september of, 2017", and what must not stand behind it.
BEFORE_YEAR = 32
AFTER_YEAR = 8
#: Characters of a sentence that say which way it looks.
SENTENCE = 120
_YEARS = frozenset(str(year).encode() for year in range(1900, 2100))
_SENTENCE_END = re.compile(r"[.!?\n。！？]")
_JOINED = re.compile(f"[{JOINED}]")
#: What is no prose: code and addresses. The signs that each of them has are looked for first.
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_ADDRESS_SIGNS = {"://": ("https", "http", "ftp"), "www.": ("",)}  #: with what may stand before each
_NO_BLANKS = re.compile(r"\S+")
_WORD = re.compile(r"\w")

_ASKS_WHEN = re.compile(
    r"\s*(?:(?:and|so|but) )?(?:when|since when|how long ago|(?:on |in )?(?:what|which) (?:date|day|week|month|year)"
    r"|wann|seit wann|quand|depuis quand|cuándo|quando|wanneer|когда|πότε|ne zaman|kiedy|متى|कब|khi nào)\b"
    r"|.{0,40}(?:เมื่อไร|什么时候|什麼時候|何时|いつ|언제)",
    re.IGNORECASE,
)
_YEAR_OR_MONTH = re.compile(r"\s*(\d{4})(?:-(\d\d?))?\s*")

VERSION = 3


def find_times(text: str, said: date) -> tuple[TimeMention, ...]:
    """The times that a text names, in its order; `said` is the day it was said, by the calendar of the store's zone.

    Linear in the text's length. Never raises. Expressions never overlap.
    """
    low = _small_letters(text)
    expressions = sorted(_expressions(low), key=lambda one: (one.start, -one.end))
    if not expressions:
        return ()
    not_prose = _not_prose(text)
    found: list[TimeMention] = []
    for one in expressions:
        if found and one.start < found[-1].end_char:
            continue
        window = None if _is_inside(one.start, not_prose) else _window(one, low, said)
        if window is not None:
            found.append(TimeMention(one.start, one.end, window, one.is_relative))
    return tuple(found)


def _not_prose(text: str) -> list[tuple[int, int]]:
    """Stretches of code and addresses, in order; none lies in another."""
    spans = [match.span() for match in _CODE.finditer(text)] + [*_addresses(text)]
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not found or end > found[-1][1]:
            found.append((start, end))
    return found


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    for sign, beginnings in _ADDRESS_SIGNS.items():
        at = text.find(sign)
        while at >= 0:
            after = _NO_BLANKS.match(text, at + len(sign))
            end = at + len(sign) if after is None else after.end()
            for beginning in beginnings:
                start = at - len(beginning)
                if after and text[max(0, start) : at] == beginning and not _WORD.match(text[max(0, start - 1) : start]):
                    yield start, end
            at = text.find(sign, end)


def _small_letters(text: str) -> str:
    """In small letters and with plain blanks, every character at its place."""
    low = text.lower()
    if len(low) != len(text):  # the Turkish capital dotted i becomes two characters
        low = "".join(lower if len(lower := letter.lower()) == 1 else lower[0] for letter in text)
    return low.replace("\n", " ").replace("\t", " ").replace("\xa0", " ")


@cache
def _triggers() -> frozenset[bytes]:
    return frozenset(word.encode() for word in TRIGGERS) | words().triggers


def _expressions(low: str) -> Iterator[TimeExpression]:
    """All that rules find; most texts have no word that any rule needs, and are left at once."""
    triggers = _triggers().intersection(split_words(low))
    if triggers:
        years = list(_years(low)) if not _YEARS.isdisjoint(triggers) else []
        places = [*years, *_places(low, [word.decode() for word in triggers - _YEARS])]
        for start, end in _stretches(low, sorted(places), frozenset(years)):
            yield from english_times(low, start, end)
            yield from spaced_times(low, start, end)
        yield from numeric_times(low, years)
    if not low.isascii() and _JOINED.search(low):
        yield from joined_times(low)
        yield from east_asian_times(low)


def _places(low: str, triggers: list[str]) -> Iterator[int]:
    """Where these words begin. There are few of them in a text, so finding each is faster than reading all words."""
    for word in triggers:
        at = low.find(word)
        while at >= 0:
            end = at + len(word)
            if not low[at - 1 : at].isalnum() and not low[end : end + 1].isalnum():
                yield at
            at = low.find(word, end)


def _years(low: str) -> Iterator[int]:
    """Where years begin. A report has dozens of different ones: one search each would read it dozens of times."""
    for century in ("19", "20"):
        at = low.find(century)
        while at >= 0:
            year, around = low[at : at + 4], low[max(0, at - 1) : at] + low[at + 4 : at + 5]
            if len(year) == 4 and year.isdecimal() and year.isascii() and not any(map(str.isalnum, around)):
                yield at
            at = low.find(century, at + 1)


def _stretches(low: str, places: list[int], years: frozenset[int]) -> Iterator[tuple[int, int]]:
    """What lies around the places; stretches that touch are one. A year is the last word of its expression."""
    start = end = -1
    for place in places:
        is_year = place in years
        first = max(0, place - (BEFORE_YEAR if is_year else REACH))
        if first > end:
            if end >= 0:
                yield start, end
            start = first
        end = max(end, min(len(low), place + (AFTER_YEAR if is_year else REACH_BEHIND)))
    if end >= 0:
        yield start, end


def _is_inside(place: int, spans: list[tuple[int, int]]) -> bool:
    """Whether a place is in one of the spans, which stand in order."""
    before = bisect_right(spans, (place, maxsize))
    return before > 0 and place < spans[before - 1][1]


def _window(one: TimeExpression, low: str, said: date) -> TimeWindow | None:
    try:
        return one.read(Said(said, partial(_looks_ahead, low, one)))
    except (ValueError, OverflowError):  # no such day, or beyond the calendar
        return None


def _looks_ahead(low: str, one: TimeExpression) -> bool:
    """Whether its sentence speaks of what is to come."""
    before, after = low[max(0, one.start - SENTENCE) : one.start], low[one.end : one.end + SENTENCE]
    start = max((match.end() for match in _SENTENCE_END.finditer(before)), default=0)
    stop = _SENTENCE_END.search(after)
    return AHEAD.search(before[start:] + low[one.start : one.end] + after[: stop.start() if stop else None]) is not None


def times_deriver(zone: Zone) -> Deriver:
    """Times as days on the calendar of `zone`."""

    def rows(note: Note, text: str) -> list[TimeRow]:
        return [
            TimeRow(one.start_char, one.end_char, one.window.first.toordinal(), one.window.end.toordinal())
            for one in find_times(text, day_of(note.said_at, zone))
        ]

    return Deriver("note_times", VERSION, rows)


def with_times(hits: Iterable[Hit], zone: Zone) -> list[Hit]:
    """The hits with the times that their passages name, as days on the calendar of `zone`."""
    return [
        replace(hit, passages=tuple(_with_mentions(passage, said) for passage in hit.passages))
        for hit in hits
        for said in (day_of(hit.note.said_at, zone),)
    ]


def _with_mentions(passage: Passage, said: date) -> Passage:
    start = passage.start_char
    mentions = find_times(passage.text, said)
    moved = (replace(one, start_char=start + one.start_char, end_char=start + one.end_char) for one in mentions)
    return replace(passage, times=tuple(moved))


@dataclass(frozen=True, slots=True)
class AskedTime:
    """Nothing, for most questions."""

    windows: tuple[TimeWindow, ...] = ()
    asks_when: bool = False


def asked_time(question: str, when: str | None, today: date) -> AskedTime:
    """What a question, or `when` beside it, says about time; relative times are counted from `today`."""
    windows = tuple(one.window for one in find_times(question, today)) if when is None else stated_windows(when, today)
    return AskedTime(windows, _ASKS_WHEN.match(question) is not None)


def stated_windows(when: str, today: date) -> tuple[TimeWindow, ...]:
    """The stretches that `when` names: 2026, 2026-05, 2026-05-07, or words; none where it names no time."""
    if match := _YEAR_OR_MONTH.fullmatch(when):
        try:
            first = date(int(match[1]), int(match[2] or 1), 1)
            return (calendars.month(first.year, first.month) if match[2] else calendars.year(first.year),)
        except (ValueError, OverflowError):
            return ()
    return tuple(one.window for one in find_times(when, today))
