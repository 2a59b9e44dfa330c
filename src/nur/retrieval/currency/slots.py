"""The slot rule: of statements that give the asked thing different values, the newest comes first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nur.retrieval.currency.statements import covered
from nur.retrieval.currency.values import asked_kinds, find_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.retrieval.currency.statements import Shares, Utterance
    from nur.retrieval.currency.values import Value, ValueKind

# Chosen on the first five chats of BEAM (docs/quality.md, "Time and change").
LEAST_COVERED = 0.4
"""Of the question's telling words that must stand around a value."""

NEARLY_AS_COVERED = 0.8
"""Of what stands around the best value that must stand around each other one."""

NEARLY_AS_GOOD = 0.75
"""Of the score of the first such statement that each other one must have."""

REACH = 80
"""Characters on either side of a value."""

_ASKS_VALUE = re.compile(
    r"\b(?:how (?:many|much|long|old|often|far|big|large|high|tall|fast|soon)|what(?:['’]?s)?|which|when)\b",
    re.IGNORECASE,
)
_ASKS_PAST = re.compile(
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|original(?:ly)?|initial(?:ly)?|at first|back then"
    r"|before (?:that|then))\b",
    re.IGNORECASE,
)


def asks_value(question: str) -> bool:
    """Whether a question may ask for the current value of something."""
    return _ASKS_VALUE.search(question) is not None and _ASKS_PAST.search(question) is None


def same_slot(question: str, shares: Shares, statements: Sequence[Utterance]) -> list[int]:
    """The places of statements that give the asked thing different values, in their order; none where all agree."""
    in_question = {one.value for one in find_values(question)}
    best: dict[ValueKind, dict[int, tuple[float, str]]] = {}
    for place, one in enumerate(statements):
        for value in find_values(one.text):
            if value.value in in_question:
                continue
            around = _covered_around(one.text, value, shares)
            seen = best.setdefault(value.kind, {}).get(place)
            if around >= LEAST_COVERED and (seen is None or around > seen[0]):
                best[value.kind][place] = around, value.value
    for kind in asked_kinds(question):
        places = _comparable(best.get(kind, {}), statements)
        if len({best[kind][place][1] for place in places}) > 1:
            return places
    return []


def _covered_around(text: str, value: Value, shares: Shares) -> float:
    return covered(text[max(0, value.start - REACH) : value.end + REACH], shares)


def _comparable(found: dict[int, tuple[float, str]], statements: Sequence[Utterance]) -> list[int]:
    """Those that speak of the asked thing about as clearly as the clearest, and answer about as well as the first."""
    if not found:
        return []
    clearest = max(around for around, _ in found.values())
    lead = statements[min(found)].score
    return [
        place
        for place in sorted(found)
        if found[place][0] >= NEARLY_AS_COVERED * clearest and statements[place].score >= NEARLY_AS_GOOD * lead
    ]
