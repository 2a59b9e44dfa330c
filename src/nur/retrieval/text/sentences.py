"""Split a text into sentences without losing a character, in every script whose full stops we know.

Rules, not a model: a wrong guess makes a sentence too short or too long. Each possible end (a run of stops, a line
break, a space in Thai) is examined once, with a bounded view around it, so time is linear.
"""

from __future__ import annotations

import re
import unicodedata

_STOPS = ".!?…‽"  # Latin, Greek, Cyrillic: may end a sentence, depending on the context
_FULL_STOPS = "。！？｡︒।॥؟۔։።፧။។៕᠃᠉"  # other scripts: always end a sentence
_LINE_ENDS = "\n\r\x0b\x0c\x85\u2028\u2029"
_CLOSERS = re.escape("\"'”’»›)]}*_」』】）》〉＂＇｣")
_OPENERS = "\"'“‘„«‹([{*_「『【（《〈¿¡"

# Quantifiers are possessive, so that no run is scanned twice. A line end takes no closers: the next line may begin with
# the `*` of a list item or with a quotation mark.
_CANDIDATE = re.compile(
    rf"[{_STOPS}{_FULL_STOPS}{_LINE_ENDS}]"
    rf"(?:(?<=[{_LINE_ENDS}])|(?P<more>[{_STOPS}{_FULL_STOPS}]*+)(?P<closed>[{_CLOSERS}]*+))(?P<gap>\s*+)"
)
# Thai, Lao, Myanmar and Khmer put a space where a phrase or sentence ends, and none between words.
_SPACE_ENDS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_SPACED = re.compile(rf"[{_SPACE_ENDS}] ++(?=[{_SPACE_ENDS}])")
_CHINESE_OR_JAPANESE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_UNWRAPPED = re.compile(rf"[{_SPACE_ENDS}\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_ITEM = re.compile(r"(?:[-*+•‣◦·–—]|\(?\d{1,3}[.)]|\(?[a-z][.)]|\(?[A-Z]\))[ \t]|[#>|]|`{3}|~{3}")
_LINE_END = re.compile(f"[{_LINE_ENDS}]")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,3}")  # U.S, Ph.D, p.m: not 3.14, not example.com
_WORD = re.compile(r"[^\W\d_]+")

_CLAUSE = re.compile(r"(?:[,;:、，；：—–)]\s*+|\s++)(?=\S)")
_JOINER = "\u200d"

_MAX_ABBREVIATION_CHARACTERS = 24
_MAX_MARKS = 30  # combining marks on one letter; no language has more
_WRAPPED_LINE = 50  # characters; a shorter line that ends without a stop was ended on purpose


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Abbreviations that never end a sentence: what they belong to follows.
_NEVER_LAST = _words(
    """mr mrs ms mx dr prof st maj capt cmdr lt sgt rev sen gov pres fr mt messrs mme mlle sra dra e.g i.e eg ie cf vs
    viz ca approx incl excl z.b d.h u.a bzw т.е т.к ул им"""
)
_BEFORE_NUMBER = _words("no nos nr art p pp par § num núm fig figs eq eqs sec ch vol ext tel стр")
_MAYBE_LAST = _words(
    """etc inc ltd co corp llc jr sr al bros dept est ave blvd rd ed eds gen col rep hon resp usw jan feb apr jun jul
    aug sep sept oct nov dec г др"""
)
# Words that often begin a sentence and rarely a name: they tell "… in the U.S. The …" from "U.S. Army".
_STARTERS = _words(
    """a after all also although an and as at because before but by each during even every few finally first for from he
    her here his how however i if in instead is it its last later many maybe meanwhile moreover most my nevertheless
    next no nobody nor not now of on once one only or our please she since so some still such that the their then there
    therefore these they this those though thus to today tomorrow two unless until was we were what when where whether
    which while who why with yes yesterday yet you your"""
)


def pieces(text: str, longest: int) -> list[tuple[int, int]]:
    """As `split`, with longer sentences (a table, minified code) cut at clauses or spaces where possible."""
    return [piece for start, end in split(text) for piece in _cut_long(text, start, end, longest)]


def _cut_long(text: str, start: int, end: int, longest: int) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    while end - start > longest:
        cut = start + longest
        for match in _CLAUSE.finditer(text, start + longest // 2, cut):
            cut = match.end()
        cut = _before_marks(text, start, cut)
        ranges.append((start, cut))
        start = cut
    return [*ranges, (start, end)]


def _before_marks(text: str, start: int, cut: int) -> int:
    """`cut`, moved back to the start of a letter and its combining marks; a run of over 30 marks is cut anywhere."""
    for at in range(cut, max(start, cut - _MAX_MARKS), -1):
        if not (unicodedata.combining(text[at]) or text[at] == _JOINER):
            return at
    return cut


def split(text: str) -> list[tuple[int, int]]:
    """Ranges `(start, end)` of the sentences; joined they are the text.

    The space after a sentence belongs to it. An empty text has none.
    """
    if not text:
        return []
    starts = [0]
    for match in _CANDIDATE.finditer(text):
        if _ends_sentence(text, match, starts[-1]):
            starts.append(match.end())
    if not text.isascii():
        starts = sorted({*starts, *(match.end() for match in _SPACED.finditer(text))})
    if len(starts) > 1 and text[: starts[1]].isspace():
        del starts[1]
    ends = [*starts[1:], len(text)]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]


def _ends_sentence(text: str, match: re.Match[str], since: int) -> bool:
    """Whether the sentence that began at `since` ends at this match."""
    first, gap = text[match.start()], match["gap"]
    if first in _LINE_ENDS:
        return _line_ends_sentence(text, match)
    if first in _FULL_STOPS:
        return True
    if not gap:
        return first in "!?" and _CHINESE_OR_JAPANESE.match(text, match.end()) is not None
    return _begins_block(text, gap, match.end()) or _stop_ends_sentence(text, match, since)


def _stop_ends_sentence(text: str, match: re.Match[str], since: int) -> bool:
    """Whether a stop followed by space ends the sentence."""
    upcoming = text[match.end() : match.end() + 16].lstrip(_OPENERS)
    continues = upcoming[:1].islower()
    stop = text[match.start()] + match["more"]
    if continues and (match["closed"] or "…" in stop or ".." in stop):
        return False
    return stop != "." or not _abbreviates(text, match.start(), since, upcoming)


def _abbreviates(text: str, stop: int, since: int, upcoming: str) -> bool:
    """Whether the full stop belongs to an abbreviation and the sentence continues."""
    words = text[max(since, stop - _MAX_ABBREVIATION_CHARACTERS) : stop].split()
    if not words or text[stop - 1].isspace():
        return False
    word = words[-1].lstrip(_OPENERS).lower()
    if word.isdecimal():
        return len(word) <= 3 and stop - len(word) == since  # the number of a list item
    if word in _NEVER_LAST:
        return True
    if word in _BEFORE_NUMBER:
        return upcoming[:1].isdecimal()
    if len(word) == 1 or word in _MAYBE_LAST or _DOTTED.fullmatch(word):
        following = _WORD.match(upcoming)
        return following is None or following.group().lower() not in _STARTERS or upcoming[0].islower()
    return False


def _begins_block(text: str, gap: str, end: int) -> bool:
    """Whether a paragraph or list item begins after this space."""
    if gap == " ":
        return False
    breaks = gap.count("\n") or gap.count("\r")
    return breaks > 1 or "\x0c" in gap or "\u2029" in gap or (breaks == 1 and _ITEM.match(text, end) is not None)


def _line_ends_sentence(text: str, match: re.Match[str]) -> bool:
    """Whether the sentence ends with the line; it does not if a long line was merely wrapped."""
    start, end = match.span()
    if start == 0 or end == len(text):
        return False
    if _begins_block(text, match.group(), end):
        return True
    before, upcoming = text[start - 1], text[end]
    if upcoming.islower():
        return False
    if before == ":" or _UNWRAPPED.match(before) or not (upcoming.isalnum() or upcoming in _OPENERS):
        return True
    return start < _WRAPPED_LINE or _LINE_END.search(text, start - _WRAPPED_LINE, start) is not None
