"""The lexical side of a question: its terms, and what each of them weighs in this store."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nur.retrieval.text.analysis import Analyzer, term_id
from nur.retrieval.text.function_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

EXTRA_WEIGHT = 0.3
"""A word that occurs as written, or an identifier as a whole, adds this much to the match of its stem or its parts."""

FUNCTION_WORD_WEIGHT = 0.3
"""What "what", "did" and "the" weigh beside other words. Their idf does not tell: "what" is rare in text that states
facts. Without the list anthropic_docs loses .015 recall@10 and miracl .016 nDCG@10; at 0 phrases of them are lost."""

MOST_MATCHES = 2_000
"""Pieces that a full-text table may have to rank for a question: its rarest terms that make no more find candidates.
Ranking 10,000 takes 15 ms, and common words hardly change which are best; the score counts them in any case."""


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A distinct term of a question."""

    id: int
    word: str  #: as the asker wrote it, casefolded: for explaining a hit
    importance: float  #: its weight before the store's statistics


class LikeTerm(NamedTuple):
    """A stored term that is like one of the question's."""

    asked: int  #: the question's term
    id: int
    likeness: float  #: 0 to 1


class Expansion(NamedTuple):
    """A stored term that counts as one of the question's, a little less."""

    column: int  #: the place of the question's term
    id: int
    factor: float


@dataclass(frozen=True, slots=True)
class WeighedTerms:
    """A question's terms with their weights in this store."""

    ids: NDArray[np.uint32]
    importance: NDArray[np.float64]  #: before the store's statistics
    weights: NDArray[np.float64]  #: importance times rarity
    expansions: Sequence[Expansion] = ()

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


def weigh(
    terms: Sequence[QueryTerm], pieces_with: Mapping[int, int], pieces: int, like: Sequence[LikeTerm] = ()
) -> WeighedTerms:
    """Weigh each term by its rarity: ``pieces_with[id]`` of the store's ``pieces`` pieces contain it.

    A term like it counts for it, less so where it is more common.
    """
    importance = np.array([term.importance for term in terms], np.float64)
    rarity = {
        term: _idf(pieces_with.get(term, 0), pieces) for term in (*(one.id for one in terms), *(one.id for one in like))
    }
    columns = {term.id: place for place, term in enumerate(terms)}
    return WeighedTerms(
        np.array([term.id for term in terms], np.uint32),
        importance,
        importance * [rarity[term.id] for term in terms],
        [
            Expansion(
                columns[one.asked], one.id, one.likeness * min(1.0, rarity[one.id] / max(rarity[one.asked], 1e-9))
            )
            for one in like
        ],
    )


def _idf(containing: int, pieces: int) -> float:
    """The rarity of a term, never negative (Lucene's variant)."""
    return math.log(1 + (max(pieces, containing) - containing + 0.5) / (containing + 0.5))


def candidate_terms(terms: Sequence[QueryTerm], pieces_with: Mapping[int, int]) -> list[int]:
    """The terms that a full-text table is asked for, joined by OR: the rarest main ones, at least one.

    Function words are asked for when there is nothing else.
    """
    main = [term for term in terms if not term.id & 1]
    telling = [term for term in main if term.word not in FUNCTION_WORDS] or main
    rarest_first = sorted(telling, key=lambda term: pieces_with.get(term.id, 0))
    chosen: list[int] = []
    matches = 0
    for term in rarest_first:
        matches += pieces_with.get(term.id, 0)
        if chosen and matches > MOST_MATCHES:
            break
        chosen.append(term.id)
    return chosen
