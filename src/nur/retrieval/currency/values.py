"""Values in texts: numbers, percentages, amounts of money, dates, times of day, versions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


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


_NUMBER = r"\d[\d,]{0,15}(?:\.\d{1,9})?"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]{0,6}\.?"
_WORDS = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_WEEKDAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
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
    for kind, finder in _FINDERS.items():
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
