"""Probabilities that a hit is relevant and that the first hit answers.

Both are logistic models (`retrieval.answer_models`). Their inputs are the piece's cosine, the heaviest content word of
the question that the piece lacks, and how many content words it contains. The missing word matters: a store with much
about Aga and nothing about her car is close to "when was Aga's car serviced?" in every other way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nur.retrieval.answer_models import AnswerModel, RelevanceModel
    from nur.retrieval.ranking.queries import WeighedTerms
    from nur.retrieval.ranking.rank import Ranked

FULL_MATCH = 1 / 2.2
"""BM25 match of a word that occurs once in a piece of the reference length."""

CLOSE = 0.05
"""Hits within this distance of the best score compete with it."""

COMPETITORS = 9
FOLLOWERS = 4
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a question's content words each hit contains."""

    missing: NDArray[np.float64]  #: weight of the heaviest missing word; those of all words sum to 1
    matched_words: NDArray[np.float64]  #: log1p of the number of words that are there


def coverage(matched: NDArray[np.float64], terms: WeighedTerms) -> Coverage:
    """Coverage of the question's content words by each hit; `matched` has one row per hit, one column per term."""
    is_content = (terms.importance >= 1.0) & (terms.weights > 0)
    weights = terms.weights[is_content]
    if not weights.size:
        return Coverage(np.ones(len(matched)), np.zeros(len(matched)))
    weights = weights / weights.sum()
    full = np.minimum(matched[:, is_content] / FULL_MATCH, 1.0)
    return Coverage(((1 - full) * weights).max(axis=1), np.log1p(full.sum(axis=1)))


def relevance(
    cosines: NDArray[np.float64], model_cosines: NDArray[np.float64], covered: Coverage, model: RelevanceModel
) -> NDArray[np.float64]:
    """Probability that the store answers the question, for each hit as if it were the best one."""
    meaning = model.cosine * cosines + model.model_cosine * np.nan_to_num(model_cosines)
    return _probability(
        model.bias + meaning + model.missing * covered.missing + model.matched_words * covered.matched_words
    )


def answer_confidence(notes: Sequence[Ranked], model: AnswerModel) -> float:
    """Probability that the first hit answers; `notes` are best first, one hit per note, at least one."""
    best, weights = notes[0], model.first_hit
    behind = best.score - np.array([one.score for one in notes[1 : 1 + COMPETITORS]])
    lead = behind[:FOLLOWERS].mean() if behind.size else best.score
    is_right = _probability(
        np.array(
            weights.bias
            + weights.score * best.score
            + weights.lead * lead
            + weights.close * (behind < CLOSE).sum() / COMPETITORS
            + weights.matched_words * best.matched_words
        )
    )
    both = np.clip(best.relevance**model.power * is_right, _LEAST, 1 - _LEAST)
    return float(_probability(model.platt_bias + model.platt_slope * np.log(both / (1 - both))))


def _probability(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    probability: NDArray[np.float64] = 1 / (1 + np.exp(-logits))
    return probability
