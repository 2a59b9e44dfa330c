"""The update rule: a memory that reports a change comes before the older ones that it shares its subject with."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from nur.retrieval.text.analysis import ANALYZER
from nur.retrieval.text.function_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.retrieval.currency.statements import Utterance

# Chosen on the first two people of everyday (docs/quality.md, "Time and change").
LEAST_SHARED = 0.15
"""Of the shorter one's words that two memories about the same thing share; names and numbers count double."""

CACHED_TOKENS = 5_000
"""Distinct tokens that are remembered with their weights: those of short texts of people."""

_REPORTS_CHANGE = re.compile(
    r"\b(?:now|instead|moved?|new|gone|from (?:now|today|then)|as of|no (?:more|longer)|chang(?:e|ed|es)|"
    r"switch(?:ed)?|swapped|reset|up to|goes up|went up|dropped|replaced|pushed|back|since|starts?|started|got|agreed|"
    r"shift\w{0,4}|update[ds]?|revised|increased?|reduced?|cut|raised|reach(?:ed)?|rescheduled|postponed|adjusted|"
    r"maintenant|désormais|nouve(?:au|lle|l)|plus|changement|changer|passe|fini|remplac\w{1,5}|déménag\w{1,5}|à partir|"
    r"dorénavant|jetzt|neu(?:e[rnms]?)?|nå|ny|teraz|abhi|badal\w{0,4}|naya|nayi)\b",
    re.IGNORECASE,
)
_ASKS_PAST = re.compile(
    r"\b(?:used to|before|previous(?:ly)?|old|former(?:ly)?|was|were|did|had|original(?:ly)?|first|back (?:in|then)|"
    r"earlier|initial(?:ly)?|history|ago|last|avant|ancien(?:ne)?|étai(?:t|ent)|avai[st]|pehle|tha|thi)\b",
    re.IGNORECASE,
)


def asks_past(question: str) -> bool:
    """Whether a question may be about how things were."""
    return _ASKS_PAST.search(question) is not None


def reports_change(text: str) -> bool:
    """Whether a text has a word that speaks of change."""
    return _REPORTS_CHANGE.search(text) is not None


def updates(statements: Sequence[Utterance]) -> dict[int, list[int]]:
    """By the place of a memory, the places of newer ones behind it that report a change of the same thing."""
    places = [place for place, one in enumerate(statements) if one.is_memory]
    reports = [place for place in places if reports_change(statements[place].text)]
    words: dict[int, dict[int, float]] = {}  # found for those alone that are compared

    def words_of(place: int) -> dict[int, float]:
        if place not in words:
            words[place] = telling_words(statements[place].text)
        return words[place]

    found = {
        place: [
            other
            for other in reports
            if other > place
            and statements[other].said > statements[place].said
            and shared(words_of(place), words_of(other)) >= LEAST_SHARED
        ]
        for place in places
    }
    return {place: others for place, others in found.items() if others}


def shared(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """How much of the shorter one's telling words two texts share, 0 to 1."""
    least = min(sum(one.values()), sum(other.values()))
    return sum(weight for term, weight in one.items() if term in other) / least if least else 0.0


def telling_words(text: str) -> dict[int, float]:
    """The terms of a text without function words; names and numbers weigh twice as much as other words."""
    words: dict[int, float] = {}
    for token in ANALYZER.tokens(text):
        words.update(_telling(token))
    return words


@lru_cache(CACHED_TOKENS)
def _telling(token: str) -> tuple[tuple[int, float], ...]:
    """The terms of one token that tell something, with their weights."""
    ids = ANALYZER.ids(token)
    weight = 2.0 if token[0].isupper() or any(map(str.isdigit, token)) else 1.0
    return tuple(
        (term, weight)
        for term, word in zip(ids.main, ids.words, strict=True)
        if len(word) > 1 and word not in FUNCTION_WORDS
    )
