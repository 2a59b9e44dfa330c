"""Compare memories: nearly the same, different content on the same subject, or unrelated.

Also the update rule: a memory that reports a change comes before older memories on the same subject.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from nur.domain.decisions import Relation
from nur.retrieval.currency.slots import find_values
from nur.retrieval.ranking.term_vectors import row_word
from nur.retrieval.text.analysis import ANALYZER
from nur.retrieval.text.function_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.retrieval.currency.utterances import Utterance

# Chosen on the first two people of everyday (docs/quality-log.md, "Time and change").
MIN_SAME = 0.8
"""Least share of all their words that nearly equal memories have in common."""

MIN_SHARED = 0.5
"""Least share of the shorter one's words that memories on the same subject have in common."""

MIN_SHARED_CHANGE = 0.25
"""The same, if the newer one reports a change."""

MAX_WORDS = 12
"""Most words of a memory that related ones are looked up by, names and numbers first."""

MAX_CHARACTERS = 2_000
"""Characters of a memory that is compared; a longer one has many subjects."""

MIN_SHARED_UPDATE = 0.15
"""Least share of the shorter one's words in common from which the update rule reorders two hits."""

CACHED_TOKENS = 5_000
"""Most tokens that are cached with their weights."""

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

_DENIES = re.compile(
    r"\b(?:not|never|no longer|no more|cannot|\w{2,6}n['’]t|stopped|kein\w{0,2}|nicht|nie|jamais|ne|pas|ikke|nahi)\b",
    re.IGNORECASE,
)


def lookup_terms(text: str) -> list[str]:
    """Lexical terms to look up memories on the same subject; none for a text that is too long."""
    words = _words(text)
    return [row_word(term) for term in sorted(words, key=lambda term: -words[term])[:MAX_WORDS]]


def relation(newer: str, older: str) -> Relation | None:
    """Relation of a memory to an older one; None if they have different subjects."""
    newer_words, older_words = _words(newer), _words(older)
    overlap = shared(newer_words, older_words)
    if overlap < MIN_SHARED_CHANGE:
        return None
    contradicts = (_DENIES.search(newer) is None) != (_DENIES.search(older) is None)
    if _jaccard(newer_words, older_words) >= MIN_SAME and not contradicts and _values(newer) == _values(older):
        return Relation.SAME
    if overlap >= MIN_SHARED:
        return Relation.CONFLICT if contradicts else Relation.OTHER
    return Relation.OTHER if reports_change(newer) else None


@lru_cache(16)
def _words(text: str) -> Mapping[int, float]:
    """The content words of a text, cached for its comparisons; none for a text that is too long."""
    return content_words(text) if len(text) <= MAX_CHARACTERS else {}


def _jaccard(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """Weighted Jaccard similarity of two texts' words, 0 to 1."""
    union = {**one, **other}
    total = sum(union.values())
    return sum(weight for term, weight in union.items() if term in one and term in other) / total if total else 0.0


def _values(text: str) -> set[str]:
    return {value.value for value in find_values(text)}


def asks_past(question: str) -> bool:
    """Whether a question may be about the past."""
    return _ASKS_PAST.search(question) is not None


def reports_change(text: str) -> bool:
    """Whether a text contains a word of change, such as "now" or "moved"."""
    return _REPORTS_CHANGE.search(text) is not None


def updates(utterances: Sequence[Utterance]) -> dict[int, list[int]]:
    """For each outdated memory, the newer ones ranked below it that report a change of the same thing; by index."""
    memories = [index for index, one in enumerate(utterances) if one.is_memory]
    reports = [index for index in memories if reports_change(utterances[index].text)]
    words: dict[int, dict[int, float]] = {}  # only of memories that are compared

    def words_of(index: int) -> dict[int, float]:
        if index not in words:
            words[index] = content_words(utterances[index].text)
        return words[index]

    newer = {
        index: [
            other
            for other in reports
            if other > index
            and utterances[other].said > utterances[index].said
            and shared(words_of(index), words_of(other)) >= MIN_SHARED_UPDATE
        ]
        for index in memories
    }
    return {index: others for index, others in newer.items() if others}


def shared(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """Share of the shorter text's content words that both texts contain, by weight, 0 to 1."""
    least = min(sum(one.values()), sum(other.values()))
    return sum(weight for term, weight in one.items() if term in other) / least if least else 0.0


def content_words(text: str) -> dict[int, float]:
    """Weights of a text's terms without function words: 2 for names and numbers, 1 for others."""
    words: dict[int, float] = {}
    for token in ANALYZER.tokens(text):
        words.update(_weighted_terms(token))
    return words


@lru_cache(CACHED_TOKENS)
def _weighted_terms(token: str) -> tuple[tuple[int, float], ...]:
    """The content terms of one token, with their weights."""
    ids = ANALYZER.ids(token)
    weight = 2.0 if token[0].isupper() or any(map(str.isdigit, token)) else 1.0
    return tuple(
        (term, weight)
        for term, word in zip(ids.main, ids.words, strict=True)
        if len(word) > 1 and word not in FUNCTION_WORDS
    )
