"""The terms of a question: their weights in this store, and which of them to search for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nur.retrieval.text.analysis import Analyzer, term_id
from nur.retrieval.text.function_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

EXTRA_WEIGHT = 0.3
"""Weight of an extra term (a word's surface form, a whole identifier); main ones (the stem, the parts) have 1."""

FUNCTION_WORD_WEIGHT = 0.3
"""Weight of "what", "did" and "the"; others have 1. Their idf misleads: "what" is rare in text that states facts.
Without the list anthropic_docs loses .015 recall@10 and miracl .016 nDCG@10; at 0 phrases made of them are lost."""

MAX_MATCHES = 2_000
"""Most pieces that the full-text table ranks for a question: candidates are found by its rarest terms up to this many.
Ranking 10,000 takes 15 ms, and common words hardly change which are best; the score counts them anyway."""


USUAL_PIECES = 1_000
"""Pieces of everyday text that the store is counted with, for questions in other languages than English. 300 and 3,000:
.01 less recall@5. English questions gain nothing from it: their function words are listed in full."""


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A distinct term of a question."""

    id: int
    word: str  #: as written in the question, casefolded; explains a hit
    importance: float  #: weight without the store's statistics


class SimilarTerm(NamedTuple):
    """A stored term that is similar to one of the question's."""

    query_id: int  #: the question's term
    id: int
    similarity: float  #: 0 to 1


class Expansion(NamedTuple):
    """A stored term that counts for one of the question's terms, times a factor."""

    column: int  #: index of the question's term
    id: int
    factor: float


@dataclass(frozen=True, slots=True)
class WeightedTerms:
    """A question's terms with their weights in this store."""

    ids: NDArray[np.uint32]
    importance: NDArray[np.float64]  #: weight without the store's statistics
    weights: NDArray[np.float64]  #: importance times idf
    expansions: Sequence[Expansion] = ()

    @property
    def total(self) -> float:
        """Sum of the weights: the score of a perfect match. Terms that the store lacks count, and so lower scores."""
        return float(self.weights.sum()) or 1.0


NO_TERMS = WeightedTerms(np.zeros(0, np.uint32), np.zeros(0), np.zeros(0))


def query_terms(question: str, analyzer: Analyzer) -> list[QueryTerm]:
    """The distinct terms of a question; a repeated word counts once."""
    distinct: dict[int, QueryTerm] = {}
    for term in analyzer.terms(question):
        importance = EXTRA_WEIGHT if term.extra else 1.0
        if term.word in FUNCTION_WORDS:
            importance *= FUNCTION_WORD_WEIGHT
        number = term_id(term)
        distinct.setdefault(number, QueryTerm(number, term.word, importance))
    return list(distinct.values())


def weigh(
    terms: Sequence[QueryTerm],
    pieces_with: Mapping[int, int],
    pieces: int,
    similar: Sequence[SimilarTerm] = (),
    usual_share: Callable[[str], float] | None = None,
) -> WeightedTerms:
    """Weigh each term by its idf: ``pieces_with[id]`` of the store's ``pieces`` pieces contain it.

    A similar term counts for it by its similarity, and less if it is the more common one. `usual_share` gives the share
    of the pieces of everyday text that contain a word; the store is then counted together with such text.
    """
    importance = np.array([term.importance for term in terms], np.float64)
    ids = (*(one.id for one in terms), *(one.id for one in similar))
    containing = {term: float(pieces_with.get(term, 0)) for term in ids}
    if usual_share is not None:
        pieces += USUAL_PIECES
        for term in terms:
            containing[term.id] += USUAL_PIECES * usual_share(term.word)
    idf = {term: _idf(count, pieces) for term, count in containing.items()}
    columns = {term.id: column for column, term in enumerate(terms)}
    return WeightedTerms(
        np.array([term.id for term in terms], np.uint32),
        importance,
        importance * [idf[term.id] for term in terms],
        [
            Expansion(
                columns[one.query_id], one.id, one.similarity * min(1.0, idf[one.id] / max(idf[one.query_id], 1e-9))
            )
            for one in similar
        ],
    )


def _idf(containing: float, pieces: int) -> float:
    """Inverse document frequency over pieces, never negative (Lucene's variant)."""
    return math.log(1 + (max(pieces, containing) - containing + 0.5) / (containing + 0.5))


def candidate_terms(terms: Sequence[QueryTerm], pieces_with: Mapping[int, int]) -> list[int]:
    """IDs of the terms to look up in the full-text table, joined by OR: the rarest main terms, at least one.

    Function words are looked up only if the question has nothing else.
    """
    main = [term for term in terms if not term.id & 1]
    content = [term for term in main if term.word not in FUNCTION_WORDS] or main
    rarest_first = sorted(content, key=lambda term: pieces_with.get(term.id, 0))
    chosen: list[int] = []
    matches = 0
    for term in rarest_first:
        matches += pieces_with.get(term.id, 0)
        if chosen and matches > MAX_MATCHES:
            break
        chosen.append(term.id)
    return chosen
