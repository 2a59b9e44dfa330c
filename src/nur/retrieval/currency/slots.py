"""The slot rule: of utterances that give different values for what a question asks, the newest comes first.

A value is a number, a percentage, an amount of money, a date, a time of day or a version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from nur.retrieval.currency.utterances import covered_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.retrieval.currency.utterances import Shares, Utterance

_NUMBER = r"\d[\d,]{0,15}(?:\.\d{1,9})?"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]{0,6}\.?"
_WORDS = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_WEEKDAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"

_DIGIT = re.compile(r"\d")

# Chosen on the first five chats of BEAM (docs/quality-log.md, "Time and change").
MIN_COVERED = 0.4
"""Least share of the question's content words around a value that answers it."""

NEARLY_AS_COVERED = 0.8
"""The share around each other value must be at least this part of the share around the best."""

NEARLY_AS_GOOD = 0.75
"""The score of each other utterance must be at least this part of the first one's."""

NEARLY_AS_COVERED_CHANGE = 0.6
NEARLY_AS_GOOD_CHANGE = 0.5
"""The same for a value that the words before it call new."""

REACH = 80
"""Characters on either side of a value that are searched for the question's words."""

WORDS_BEFORE = 48
"""Characters before a value, in its sentence, that show whether it is new, wanted or past."""

_SENTENCE_END = re.compile(r"[.!?;\n]\s")
_CHANGES = re.compile(
    r"\b(?:now|new|recently|instead|chang\w{1,3}|updated?|revised|(?:re)?scheduled|moved|pushed|postponed|switched|"
    r"improved|increased|decreased|reduced|raised|dropped|lowered|cut|extended|expanded|adjusted|grown|risen|"
    r"(?:goes|went|gone|up|down) to)\b[^\d]*$",
    re.IGNORECASE,
)
#: Before a wanted or past value: "my goal is 100 %", "from 70 % to 90 %".
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
    # A comparison asks about the past, too.
    r"\b(?:between|differences?|compared|how (?:much|many) (?:more|less|fewer)|"
    r"used to|previous(?:ly)?|former(?:ly)?|original(?:ly)?|initial(?:ly)?|at first|back then"
    r"|before (?:that|then))\b",
    re.IGNORECASE,
)


class ValueKind(StrEnum):
    """Kinds of values; only values of one kind are compared."""

    TIME = "time"
    DATE = "date"
    WEEKDAY = "weekday"
    PERCENT = "percent"
    MONEY = "money"
    VERSION = "version"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Value:
    """A value and its offsets in a text."""

    kind: ValueKind
    value: str  #: normalised: 1200 for "1,200", 3 for "three"
    start: int
    end: int


#: The more specific kinds first: what one matches, later ones do not.
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
#: Kinds that may be written without digits.
_IN_WORDS = frozenset({ValueKind.WEEKDAY, ValueKind.NUMBER})
_FINDERS = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _PATTERNS.items()}

#: How a question asks for each kind, likeliest first; if none matches, it may ask for any.
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
    values: list[Value] = []
    has_digit = _DIGIT.search(text) is not None  # most utterances have none, which saves five of seven searches
    for kind, finder in _FINDERS.items():
        if not has_digit and kind not in _IN_WORDS:
            continue
        for match in finder.finditer(text):
            if not any(one.start < match.end() and match.start() < one.end for one in values):
                values.append(Value(kind, _normalised(match.group()), match.start(), match.end()))
    return sorted(values, key=lambda one: one.start)


def asked_kinds(question: str) -> tuple[ValueKind, ...]:
    """The kinds of value that a question may ask for, the likeliest first."""
    return tuple(kind for kind, asks in _ASKS.items() if asks.search(question)) or tuple(ValueKind)


def _normalised(text: str) -> str:
    """The normalised spelling of a value."""
    normalised = text.lower().replace(",", "").replace(" ", "").strip(".")
    return _WORDS.get(normalised, normalised)


def asks_value(question: str) -> bool:
    """Whether a question may ask for the current value of something."""
    return _ASKS_VALUE.search(question) is not None and _ASKS_PAST.search(question) is None


def same_slot(question: str, shares: Shares, utterances: Sequence[Utterance]) -> list[int]:
    """Indices of utterances with different values for what is asked, in their order; none if all agree."""
    in_question = {one.value for one in find_values(question)}
    best: dict[ValueKind, dict[int, GivenValue]] = {}
    for index, utterance in enumerate(utterances):
        for value in find_values(utterance.text):
            given = None if value.value in in_question else _given(utterance.text, value, shares)
            if given is None:
                continue
            previous = best.setdefault(value.kind, {}).get(index)
            if previous is None or given > previous:
                best[value.kind][index] = given
    for kind in asked_kinds(question):
        comparable = _comparable(best.get(kind, {}), utterances)
        if len({best[kind][index].value for index in comparable}) > 1:
            return comparable
    return []


class GivenValue(NamedTuple):
    """A value that an utterance gives for what is asked; compared by coverage first."""

    covered: float  #: share of the question's content words around it
    is_change: bool  #: the words before it call it new
    value: str


def _given(text: str, value: Value, shares: Shares) -> GivenValue | None:
    """The value, if it is the current value of what is asked; None if it is another thing's, wanted or past."""
    before = _SENTENCE_END.split(text[max(0, value.start - WORDS_BEFORE) : value.start])[-1]
    if _NOT_NOW.search(before):
        return None
    is_change = _CHANGES.search(before) is not None
    covered = covered_share(text[max(0, value.start - REACH) : value.end + REACH], shares)
    return GivenValue(covered, is_change, value.value) if covered >= MIN_COVERED else None


def _comparable(given_values: dict[int, GivenValue], utterances: Sequence[Utterance]) -> list[int]:
    """Indices of utterances whose coverage is close to the best and whose score is close to the first one's.

    A value that is called new needs less coverage: people refer to a known thing by one word.
    """
    if not given_values:
        return []
    best_covered = max(given.covered for given in given_values.values())
    first_score = utterances[min(given_values)].score
    return [
        index
        for index, given in sorted(given_values.items())
        if given.covered >= (NEARLY_AS_COVERED_CHANGE if given.is_change else NEARLY_AS_COVERED) * best_covered
        and utterances[index].score >= (NEARLY_AS_GOOD_CHANGE if given.is_change else NEARLY_AS_GOOD) * first_score
    ]
