"""The slot rule: of statements that give the asked thing different values, the newest comes first.

A value is a number, a percentage, an amount of money, a date, a time of day or a version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from nur.retrieval.currency.statements import covered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.retrieval.currency.statements import Shares, Utterance

_NUMBER = r"\d[\d,]{0,15}(?:\.\d{1,9})?"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]{0,6}\.?"
_WORDS = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_WEEKDAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"

_DIGIT = re.compile(r"\d")

# Chosen on the first five chats of BEAM (docs/quality.md, "Time and change").
LEAST_COVERED = 0.4
"""Of the question's telling words that must stand around a value."""

NEARLY_AS_COVERED = 0.8
"""Of what stands around the best value that must stand around each other one."""

NEARLY_AS_GOOD = 0.75
"""Of the score of the first such statement that each other one must have."""

NEARLY_AS_COVERED_CHANGE = 0.6
NEARLY_AS_GOOD_CHANGE = 0.5
"""The same where the words before a value say that it is new."""

REACH = 80
"""Characters on either side of a value."""

WORDS_BEFORE = 48
"""Characters before a value, of the same sentence, that say whether it is new, or not what holds."""

_SENTENCE_END = re.compile(r"[.!?;\n]\s")
_CHANGES = re.compile(
    r"\b(?:now|new|recently|instead|chang\w{1,3}|updated?|revised|(?:re)?scheduled|moved|pushed|postponed|switched|"
    r"improved|increased|decreased|reduced|raised|dropped|lowered|cut|extended|expanded|adjusted|grown|risen|"
    r"(?:goes|went|gone|up|down) to)\b[^\d]*$",
    re.IGNORECASE,
)
#: What somebody wants, and what was: "my goal is 100 %", "from 70 % to 90 %".
_NOT_NOW = re.compile(
    r"\b(?:goals?|aim(?:s|ing)?|want(?:s|ed)?|hop(?:e|es|ing)|try(?:ing)?|plan(?:s|ning)?|would like) (?:is |was )?"
    r"(?:of|to|for)\b|\b(?:from|initially|originally|previously|formerly) (?:around |about )?[$£€]?$",
    re.IGNORECASE,
)

_ASKS_VALUE = re.compile(
    r"\b(?:how (?:many|much|long|old|often|far|big|large|high|tall|fast|soon)|what(?:['’]?s)?|which|when)\b",
    re.IGNORECASE,
)
_ASKS_PAST = re.compile(
    # What compares asks about the past as well.
    r"\b(?:between|differences?|compared|how (?:much|many) (?:more|less|fewer)|"
    r"used to|previous(?:ly)?|former(?:ly)?|original(?:ly)?|initial(?:ly)?|at first|back then"
    r"|before (?:that|then))\b",
    re.IGNORECASE,
)


class ValueKind(StrEnum):
    """What a value is; only values of one kind are compared."""

    TIME = "time"
    DATE = "date"
    WEEKDAY = "weekday"
    PERCENT = "percent"
    MONEY = "money"
    VERSION = "version"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Value:
    """A value and where it stands in its text."""

    kind: ValueKind
    value: str  #: in one spelling: 1200 for "1,200", 3 for "three"
    start: int
    end: int


#: The more telling kinds first: what one of them takes, no later one reads.
_PATTERNS = {
    ValueKind.TIME: r"\b\d{1,2}(?::\d\d)? ?[ap]\.?m\b\.?|\b\d{1,2}[:.h]\d\d\b(?! ?%)",
    ValueKind.DATE: rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?!\w)"
    r"|\b\d{4}-\d\d-\d\d\b",
    ValueKind.WEEKDAY: rf"\b(?:{_WEEKDAYS})s?\b",
    ValueKind.PERCENT: rf"{_NUMBER} ?(?:%|percent\b)",
    ValueKind.MONEY: rf"[$£€₹] ?{_NUMBER}k?|{_NUMBER} ?(?:[€£]|(?:dollars|euros|pounds|rupees)\b)",
    ValueKind.VERSION: r"\bv?\d{1,6}\.\d{1,6}\.\d{1,6}\b|\bv\d{1,6}(?:\.\d{1,6}){1,3}\b",
    ValueKind.NUMBER: rf"(?<![\w.])(?:{_NUMBER}|(?:{'|'.join(_WORDS)})\b)",
}
#: Kinds that are also written in words alone.
_IN_WORDS = frozenset({ValueKind.WEEKDAY, ValueKind.NUMBER})
_FINDERS = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _PATTERNS.items()}

#: What a question asks for, the first that fits first; none: any kind.
_ASKED = {
    ValueKind.TIME: r"\btime\b(?! of)",
    ValueKind.DATE: r"\bwhen\b|\b(?:what|which) da(?:te|y)\b|\bdeadline\b|\bdate\b",
    ValueKind.WEEKDAY: r"\bwhen\b|\bdays?\b",
    ValueKind.PERCENT: r"percent|\brate\b|\baccuracy\b|\bcoverage\b",
    ValueKind.MONEY: r"\bhow much\b|\bcosts?\b|\bprice\b|\bcharge|\bbudget\b|\bsalary\b|\brent\b|\bfee\b",
    ValueKind.VERSION: r"\bversion\b",
    ValueKind.NUMBER: r"\bhow (?:many|much|long|often|old)\b|\bnumber\b|\bquota\b|\bcount\b|\btarget\b|\btime\b",
}
_ASKS = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _ASKED.items()}


def find_values(text: str) -> list[Value]:
    """The values of a text, in order; no two overlap."""
    found: list[Value] = []
    has_digit = _DIGIT.search(text) is not None  # most of what people say has none: that spares five of seven searches
    for kind, finder in _FINDERS.items():
        if not has_digit and kind not in _IN_WORDS:
            continue
        for match in finder.finditer(text):
            if not any(one.start < match.end() and match.start() < one.end for one in found):
                found.append(Value(kind, _plain(match.group()), match.start(), match.end()))
    return sorted(found, key=lambda one: one.start)


def asked_kinds(question: str) -> tuple[ValueKind, ...]:
    """The kinds of value that a question may ask for, the likeliest first."""
    return tuple(kind for kind, asks in _ASKS.items() if asks.search(question)) or tuple(ValueKind)


def _plain(text: str) -> str:
    """One spelling for each value."""
    plain = text.lower().replace(",", "").replace(" ", "").strip(".")
    return _WORDS.get(plain, plain)


def asks_value(question: str) -> bool:
    """Whether a question may ask for the current value of something."""
    return _ASKS_VALUE.search(question) is not None and _ASKS_PAST.search(question) is None


def same_slot(question: str, shares: Shares, statements: Sequence[Utterance]) -> list[int]:
    """The places of statements that give the asked thing different values, in their order; none where all agree."""
    in_question = {one.value for one in find_values(question)}
    best: dict[ValueKind, dict[int, GivenValue]] = {}
    for place, one in enumerate(statements):
        for value in find_values(one.text):
            given = None if value.value in in_question else _given(one.text, value, shares)
            if given is None:
                continue
            seen = best.setdefault(value.kind, {}).get(place)
            if seen is None or given > seen:
                best[value.kind][place] = given
    for kind in asked_kinds(question):
        places = _comparable(best.get(kind, {}), statements)
        if len({best[kind][place].value for place in places}) > 1:
            return places
    return []


class GivenValue(NamedTuple):
    """What a statement gives as the value of the asked thing."""

    covered: float  #: of the question's telling words that stand around it
    is_change: bool  #: the words before it say that it is new
    value: str


def _given(text: str, value: Value, shares: Shares) -> GivenValue | None:
    """The value as that of the asked thing; None where it is about something else, or what one wants or had."""
    before = _SENTENCE_END.split(text[max(0, value.start - WORDS_BEFORE) : value.start])[-1]
    if _NOT_NOW.search(before):
        return None
    is_change = _CHANGES.search(before) is not None
    covered_around = _covered_around(text, value, shares)
    return GivenValue(covered_around, is_change, value.value) if covered_around >= LEAST_COVERED else None


def _covered_around(text: str, value: Value, shares: Shares) -> float:
    return covered(text[max(0, value.start - REACH) : value.end + REACH], shares)


def _comparable(found: dict[int, GivenValue], statements: Sequence[Utterance]) -> list[int]:
    """Those that speak of the asked thing about as clearly as the clearest, and answer about as well as the first.

    What says that its value is new may speak of it less clearly: people name a thing that is known by one word.
    """
    if not found:
        return []
    clearest = max(given.covered for given in found.values())
    lead = statements[min(found)].score
    return [
        place
        for place, given in sorted(found.items())
        if given.covered >= (NEARLY_AS_COVERED_CHANGE if given.is_change else NEARLY_AS_COVERED) * clearest
        and statements[place].score >= (NEARLY_AS_GOOD_CHANGE if given.is_change else NEARLY_AS_GOOD) * lead
    ]
