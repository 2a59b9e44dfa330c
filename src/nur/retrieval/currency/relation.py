"""How two memories stand to each other: nearly the same, something else about the same thing, or unrelated."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from nur.domain.decisions import Relation
from nur.retrieval.currency.slots import find_values
from nur.retrieval.currency.updates import reports_change, shared, telling_words
from nur.retrieval.ranking.term_vectors import row_word

if TYPE_CHECKING:
    from collections.abc import Mapping

# Chosen on the first two people of everyday (docs/quality.md, "Time and change").
LEAST_SAME = 0.8
"""Of all words of both that nearly the same memories share."""

LEAST_SHARED = 0.5
"""Of the shorter one's words that memories about the same thing share."""

LEAST_SHARED_CHANGE = 0.25
"""The same where the newer one reports a change."""

MOST_WORDS = 12
"""Words of a memory that others are looked up by, names and numbers first."""

LONGEST = 2_000
"""Characters of memories that are compared: longer ones are about many things."""

_DENIES = re.compile(
    r"\b(?:not|never|no longer|no more|cannot|\w{2,6}n['’]t|stopped|kein\w{0,2}|nicht|nie|jamais|ne|pas|ikke|nahi)\b",
    re.IGNORECASE,
)


def lookup_terms(text: str) -> list[str]:
    """The lexical terms that memories about the same thing are looked up by; none for a text that is too long."""
    words = _words(text)
    return [row_word(term) for term in sorted(words, key=lambda term: -words[term])[:MOST_WORDS]]


def relation(newer: str, older: str) -> Relation | None:
    """How a memory stands to an older one; None where they are about other things."""
    words, others = _words(newer), _words(older)
    in_common = shared(words, others)
    if in_common < LEAST_SHARED_CHANGE:
        return None
    denies = (_DENIES.search(newer) is None) != (_DENIES.search(older) is None)
    if _of_both(words, others) >= LEAST_SAME and not denies and _values(newer) == _values(older):
        return Relation.SAME
    if in_common >= LEAST_SHARED:
        return Relation.CONFLICT if denies else Relation.OTHER
    return Relation.OTHER if reports_change(newer) else None


@lru_cache(16)
def _words(text: str) -> Mapping[int, float]:
    """The telling words of a text, found once for all its comparisons; none for a text that is too long."""
    return telling_words(text) if len(text) <= LONGEST else {}


def _of_both(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """What two texts share of all their words, 0 to 1."""
    everything = {**one, **other}
    total = sum(everything.values())
    return sum(weight for term, weight in everything.items() if term in one and term in other) / total if total else 0.0


def _values(text: str) -> set[str]:
    return {value.value for value in find_values(text)}
