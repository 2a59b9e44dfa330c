"""Compare two memories: nearly the same, different statements on the same subject, or unrelated."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from nur.domain.decisions import Relation
from nur.retrieval.currency.slots import find_values
from nur.retrieval.currency.updates import content_words, reports_change, shared
from nur.retrieval.ranking.term_vectors import row_word

if TYPE_CHECKING:
    from collections.abc import Mapping

# Chosen on the first two people of everyday (docs/quality.md, "Time and change").
LEAST_SAME = 0.8
"""Least share of all their words that nearly equal memories have in common."""

LEAST_SHARED = 0.5
"""Least share of the shorter one's words that memories on the same subject have in common."""

LEAST_SHARED_CHANGE = 0.25
"""The same, if the newer one reports a change."""

MOST_WORDS = 12
"""Most words of a memory that related ones are looked up by, names and numbers first."""

LONGEST = 2_000
"""Characters of a memory that is compared; a longer one has many subjects."""

_DENIES = re.compile(
    r"\b(?:not|never|no longer|no more|cannot|\w{2,6}n['’]t|stopped|kein\w{0,2}|nicht|nie|jamais|ne|pas|ikke|nahi)\b",
    re.IGNORECASE,
)


def lookup_terms(text: str) -> list[str]:
    """Lexical terms to look up memories on the same subject; none for a text that is too long."""
    words = _words(text)
    return [row_word(term) for term in sorted(words, key=lambda term: -words[term])[:MOST_WORDS]]


def relation(newer: str, older: str) -> Relation | None:
    """Relation of a memory to an older one; None if they have different subjects."""
    newer_words, older_words = _words(newer), _words(older)
    overlap = shared(newer_words, older_words)
    if overlap < LEAST_SHARED_CHANGE:
        return None
    contradicts = (_DENIES.search(newer) is None) != (_DENIES.search(older) is None)
    if _jaccard(newer_words, older_words) >= LEAST_SAME and not contradicts and _values(newer) == _values(older):
        return Relation.SAME
    if overlap >= LEAST_SHARED:
        return Relation.CONFLICT if contradicts else Relation.OTHER
    return Relation.OTHER if reports_change(newer) else None


@lru_cache(16)
def _words(text: str) -> Mapping[int, float]:
    """The content words of a text, cached for its comparisons; none for a text that is too long."""
    return content_words(text) if len(text) <= LONGEST else {}


def _jaccard(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """Weighted Jaccard similarity of two texts' words, 0 to 1."""
    union = {**one, **other}
    total = sum(union.values())
    return sum(weight for term, weight in union.items() if term in one and term in other) / total if total else 0.0


def _values(text: str) -> set[str]:
    return {value.value for value in find_values(text)}
