"""Find the times that a text, a note, a question or the passages of hits mention.

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
from nur.domain.times import TimeMention, TimeWindow, day_of
from nur.retrieval.text.analysis import split_words
from nur.retrieval.times import calendars
from nur.retrieval.times.english import AHEAD, TRIGGERS, english_times
from nur.retrieval.times.expressions import Said
from nur.retrieval.times.numeric import east_asian_times, numeric_times
from nur.retrieval.times.phrases import JOINED, joined_times, spaced_times, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nur.domain.notes import Note
    from nur.domain.search import Hit, Passage
    from nur.domain.times import Zone
    from nur.retrieval.times.expressions import TimeExpression


#: Characters that an expression may reach before and after the start of its trigger word.
REACH = 48
REACH_BEHIND = 32
#: The same for a year: before it "late in september of, ", after it what rules it out.
BEFORE_YEAR = 32
AFTER_YEAR = 8
#: Characters on either side that are searched for signs of the future.
SENTENCE = 120
_YEARS = frozenset(str(year).encode() for year in range(1900, 2100))
_SENTENCE_END = re.compile(r"[.!?\n。！？]")
_JOINED = re.compile(f"[{JOINED}]")
#: Code and addresses are not prose. Addresses are found by a substring first, which is fast.
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_ADDRESS_SIGNS = {"://": ("https", "http", "ftp"), "www.": ("",)}  #: substring of an address, and what may precede it
_NO_BLANKS = re.compile(r"\S+")
_WORD = re.compile(r"\w")

_ASKS_WHEN = re.compile(
    r"(?:^|[.!?,;:–—-]\s|\band\s)\s*(?:(?:and|so|but) )?(?:"
    r"when(?:['’]?s| (?:is|are|was|were|did|do|does|has|have|had|am|will|would|can|should)\b)"
    r"|(?:on |in |since )?(?:what|which) (?:date|day|week|month|year)\b)"
    r"|^\s*(?:(?:and|so|but) )?(?:when|since when|how long (?:ago|has|have)|(?:the )?dates?"
    r"|wann|seit wann|quand|depuis quand|cuándo|quando|wanneer|когда|πότε|ne zaman|kiedy|متى|कब|khi nào)\b"
    r"|^.{0,40}(?:เมื่อไร|什么时候|什麼時候|何时|いつ|언제)",
    re.IGNORECASE,
)
#: What joins two times to one period, and what starts a period that lasts.
_RANGE = re.compile(r"\s*(?:to|until|till|through|[-–]|bis|au|à|(and|und|et))\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre)\b", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:since|seit|depuis|desde)\b", re.IGNORECASE)
_YEAR_OR_MONTH = re.compile(r"\s*(\d{4})(?:-(\d\d?))?\s*")

VERSION = 4


def find_times(text: str, said: date) -> tuple[TimeMention, ...]:
    """The times that a text mentions, in order; `said` is the day on which it was said, in the store's time zone.

    Mentions never overlap. Never raises. Linear in the length of the text.
    """
    low = _lower_case(text)
    expressions = sorted(_expressions(low), key=lambda one: (one.start, -one.end))
    if not expressions:
        return ()
    not_prose = _not_prose(text)
    mentions: list[TimeMention] = []
    for one in expressions:
        if mentions and one.start < mentions[-1].end_char:
            continue
        window = None if _is_inside(one.start, not_prose) else _window(one, low, said)
        if window is not None:
            mentions.append(TimeMention(one.start, one.end, window, one.is_relative))
    return tuple(mentions)


def _not_prose(text: str) -> list[tuple[int, int]]:
    """Ranges of code and addresses, in order; none contains another."""
    spans = [match.span() for match in _CODE.finditer(text)] + [*_addresses(text)]
    ranges: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not ranges or end > ranges[-1][1]:
            ranges.append((start, end))
    return ranges


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    for marker, prefixes in _ADDRESS_SIGNS.items():
        at = text.find(marker)
        while at >= 0:
            rest = _NO_BLANKS.match(text, at + len(marker))
            end = at + len(marker) if rest is None else rest.end()
            for prefix in prefixes:
                start = at - len(prefix)
                if rest and text[max(0, start) : at] == prefix and not _WORD.match(text[max(0, start - 1) : start]):
                    yield start, end
            at = text.find(marker, end)


def _lower_case(text: str) -> str:
    """The text in lower case with plain blanks, every character at its original offset."""
    low = text.lower()
    if len(low) != len(text):  # the Turkish dotted capital I becomes two characters
        low = "".join(lower if len(lower := letter.lower()) == 1 else lower[0] for letter in text)
    return low.replace("\n", " ").replace("\t", " ").replace("\xa0", " ")


@cache
def _triggers() -> frozenset[bytes]:
    return frozenset(word.encode() for word in TRIGGERS) | words().triggers


def _expressions(low: str) -> Iterator[TimeExpression]:
    """All matches of the rules, possibly overlapping. Most texts contain no trigger word and need no search."""
    triggers = _triggers().intersection(split_words(low))
    if triggers:
        years = list(_years(low)) if not _YEARS.isdisjoint(triggers) else []
        offsets = [*years, *_offsets(low, [word.decode() for word in triggers - _YEARS])]
        for start, end in _search_ranges(low, sorted(offsets), frozenset(years)):
            yield from english_times(low, start, end)
            yield from spaced_times(low, start, end)
        yield from numeric_times(low, years)
    if not low.isascii() and _JOINED.search(low):
        yield from joined_times(low)
        yield from east_asian_times(low)


def _offsets(low: str, triggers: list[str]) -> Iterator[int]:
    """Offsets of these words. A text has few of them, so searching for each is faster than walking all words."""
    for word in triggers:
        at = low.find(word)
        while at >= 0:
            end = at + len(word)
            if not low[at - 1 : at].isalnum() and not low[end : end + 1].isalnum():
                yield at
            at = low.find(word, end)


def _years(low: str) -> Iterator[int]:
    """Offsets of years. A report has dozens of different ones, so they are not searched for one by one."""
    for century in ("19", "20"):
        at = low.find(century)
        while at >= 0:
            year, around = low[at : at + 4], low[max(0, at - 1) : at] + low[at + 4 : at + 5]
            if len(year) == 4 and year.isdecimal() and year.isascii() and not any(map(str.isalnum, around)):
                yield at
            at = low.find(century, at + 1)


def _search_ranges(low: str, offsets: list[int], years: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Ranges around the offsets, joined where they touch. A year is the last word of its expression."""
    start = end = -1
    for offset in offsets:
        is_year = offset in years
        first = max(0, offset - (BEFORE_YEAR if is_year else REACH))
        if first > end:
            if end >= 0:
                yield start, end
            start = first
        end = max(end, min(len(low), offset + (AFTER_YEAR if is_year else REACH_BEHIND)))
    if end >= 0:
        yield start, end


def _is_inside(offset: int, spans: list[tuple[int, int]]) -> bool:
    """Whether an offset is in one of the spans, which are in order."""
    before = bisect_right(spans, (offset, maxsize))
    return before > 0 and offset < spans[before - 1][1]


def _window(one: TimeExpression, low: str, said: date) -> TimeWindow | None:
    try:
        return one.read(Said(said, partial(_looks_ahead, low, one)))
    except (ValueError, OverflowError):  # no such day, or outside the calendar
        return None


def _looks_ahead(low: str, one: TimeExpression) -> bool:
    """Whether the sentence of an expression is about the future."""
    before, after = low[max(0, one.start - SENTENCE) : one.start], low[one.end : one.end + SENTENCE]
    start = max((match.end() for match in _SENTENCE_END.finditer(before)), default=0)
    stop = _SENTENCE_END.search(after)
    return AHEAD.search(before[start:] + low[one.start : one.end] + after[: stop.start() if stop else None]) is not None


def times_deriver(zone: Zone) -> Deriver:
    """Derives the times that a note mentions, as days in `zone`."""

    def rows(note: Note, text: str) -> list[TimeRow]:
        return [
            TimeRow(one.start_char, one.end_char, one.window.first.toordinal(), one.window.end.toordinal())
            for one in find_times(text, day_of(note.said_at, zone))
        ]

    return Deriver("note_times", VERSION, rows)


def with_times(hits: Iterable[Hit], zone: Zone) -> list[Hit]:
    """The hits, with the times that their passages mention as days in `zone`."""
    return [
        replace(hit, passages=tuple(_with_mentions(passage, said) for passage in hit.passages))
        for hit in hits
        for said in (day_of(hit.note.said_at, zone),)
    ]


def _with_mentions(passage: Passage, said: date) -> Passage:
    start = passage.start_char
    mentions = find_times(passage.text, said)
    shifted = (replace(one, start_char=start + one.start_char, end_char=start + one.end_char) for one in mentions)
    return replace(passage, times=tuple(shifted))


@dataclass(frozen=True, slots=True)
class AskedTime:
    """The time of a question; empty for most."""

    windows: tuple[TimeWindow, ...] = ()
    asks_when: bool = False


def asked_time(question: str, when: str | None, today: date) -> AskedTime:
    """The time of a question; `when`, if given, replaces its periods. Relative times are counted from `today`."""
    asks_when = _ASKS_WHEN.search(question) is not None
    if when is not None:
        return AskedTime(stated_windows(when, today), asks_when)
    return AskedTime(_asked_windows(question, find_times(question, today), today), asks_when)


def _asked_windows(question: str, mentions: Sequence[TimeMention], today: date) -> tuple[TimeWindow, ...]:
    """The windows of a question: "between 1 and 3 May" is one, and "since May" lasts until today."""
    windows: list[TimeWindow] = []
    at = 0
    for one in mentions:
        window = one.window
        joined = _RANGE.fullmatch(question, at, one.start_char)
        if windows and joined and (joined[1] is None or _BETWEEN.search(question, 0, at)):
            window = TimeWindow(min(windows.pop().first, window.first), window.end, window.grain)
        elif _SINCE.search(question, at, one.end_char) and window.end <= today:
            window = TimeWindow(window.first, today + calendars.DAY, window.grain)
        windows.append(window)
        at = one.end_char
    return tuple(windows)


def stated_windows(when: str, today: date) -> tuple[TimeWindow, ...]:
    """The periods that `when` names: 2026, 2026-05, 2026-05-07, or words; none if it names no time."""
    if match := _YEAR_OR_MONTH.fullmatch(when):
        try:
            first = date(int(match[1]), int(match[2] or 1), 1)
            return (calendars.month(first.year, first.month) if match[2] else calendars.year(first.year),)
        except (ValueError, OverflowError):
            return ()
    return tuple(one.window for one in find_times(when, today))
