"""The lexical side of a question: its terms, and what each of them weighs in this store."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.retrieval.text.analysis import Analyzer, term_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

EXTRA_WEIGHT = 0.3
"""A word that occurs as written, or an identifier as a whole, adds this much to the match of its stem or its parts."""

FUNCTION_WORD_WEIGHT = 0.3
"""What "what", "did" and "the" weigh beside other words. Their idf does not tell: "what" is rare in text that states
facts. Without the list anthropic_docs loses .015 recall@10 and miracl .016 nDCG@10; at 0 phrases of them are lost."""

COMMON_SHARE = 1 / 3
COMMON_CHUNKS = 1_000
"""A term that more than this share of the store holds, in more than this many chunks, finds no candidates."""

FUNCTION_WORDS = frozenset(
    "a about after again all also am an and any are as at be because been before being between both but by can could "
    "did do does "
    "doing done down during each few for from further had has have having he her here hers him his how i if in into "
    "is it its "
    "itself just ll me might more most must my myself no nor not of off on once one only or other our ours out over "
    "own re same "
    "shall she should so some such than that the their theirs them then there these they this those through to too "
    "under up us ve "
    "very was we were what when where which while who whom whose why will with would you your yours yourself".split()
)


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A distinct term of a question."""

    id: int
    word: str  #: as the asker wrote it, casefolded: for explaining a hit
    importance: float  #: its weight before the store's statistics


@dataclass(frozen=True, slots=True)
class WeighedTerms:
    """A question's terms with their weights in this store."""

    ids: NDArray[np.uint32]
    importance: NDArray[np.float64]  #: before the store's statistics
    weights: NDArray[np.float64]  #: importance times rarity

    @property
    def total(self) -> float:
        """What a text that matched every term perfectly would gain; unknown terms count, so that they lower a score."""
        return float(self.weights.sum()) or 1.0


NO_TERMS = WeighedTerms(np.zeros(0, np.uint32), np.zeros(0), np.zeros(0))


def query_terms(question: str, analyzer: Analyzer) -> list[QueryTerm]:
    """The distinct terms of a question; a repeated word counts once."""
    found: dict[int, QueryTerm] = {}
    for term in analyzer.terms(question):
        importance = EXTRA_WEIGHT if term.extra else 1.0
        if term.word in FUNCTION_WORDS:
            importance *= FUNCTION_WORD_WEIGHT
        number = term_id(term)
        found.setdefault(number, QueryTerm(number, term.word, importance))
    return list(found.values())


def weigh(terms: Sequence[QueryTerm], chunks_with: Mapping[int, int], chunks: int) -> WeighedTerms:
    """Weigh each term by its rarity: ``chunks_with[id]`` of the store's ``chunks`` chunks hold it."""
    importance = np.array([term.importance for term in terms], np.float64)
    return WeighedTerms(
        np.array([term.id for term in terms], np.uint32),
        importance,
        importance * [_idf(chunks_with.get(term.id, 0), chunks) for term in terms],
    )


def _idf(holding: int, chunks: int) -> float:
    """The rarity of a term, never negative (Lucene's variant)."""
    return math.log(1 + (max(chunks, holding) - holding + 0.5) / (holding + 0.5))


def candidate_terms(terms: Sequence[QueryTerm], chunks_with: Mapping[int, int], chunks: int) -> list[int]:
    """The terms that a full-text table is asked for, joined by OR: the main ones that tell chunks apart.

    Words that a third of the store holds only make the table rank a third of the store. They are asked for when there
    is nothing else; the score counts them in any case.
    """
    main = [term for term in terms if not term.id & 1]
    telling = [
        term.id
        for term in main
        if term.word not in FUNCTION_WORDS and chunks_with.get(term.id, 0) <= max(COMMON_CHUNKS, COMMON_SHARE * chunks)
    ]
    return telling or [term.id for term in main]
