"""How sure it is that a hit answers: probabilities, from what is known of the hit and of the whole answer.

Both are logistic models (`retrieval.answer_models`). They look at the piece's cosine, at the most telling word of the
question that the piece does not have, and at how many telling words it has: a store that knows much about Aga and
nothing about her car is close to "when was Aga's car serviced?" in every other way.
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
"""How well a piece of usual length matches a word that it has once."""

CLOSE = 0.05
"""Hits whose score is this near to the best one's compete with it."""

COMPETITORS = 9
FOLLOWERS = 4
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a question each hit has."""

    missing: NDArray[np.float64]  #: share of the most telling word that is not there
    found: NDArray[np.float64]  #: log of one more than the telling words that are there


def coverage(matched: NDArray[np.float64], terms: WeighedTerms) -> Coverage:
    """How much of the question each hit has; one row per hit, one column per term."""
    telling = (terms.importance >= 1.0) & (terms.weights > 0)
    weights = terms.weights[telling]
    if not weights.size:
        return Coverage(np.ones(len(matched)), np.zeros(len(matched)))
    weights = weights / weights.sum()
    full = np.minimum(matched[:, telling] / FULL_MATCH, 1.0)
    return Coverage(((1 - full) * weights).max(axis=1), np.log1p(full.sum(axis=1)))


def relevance(
    cosines: NDArray[np.float64], by_model: NDArray[np.float64], found: Coverage, model: RelevanceModel
) -> NDArray[np.float64]:
    """How likely it is that the store answers, if each of these is its best hit."""
    meaning = model.cosine * cosines + model.model_cosine * np.nan_to_num(by_model)
    return _probability(model.bias + meaning + model.missing * found.missing + model.found * found.found)


def answer_confidence(notes: Sequence[Ranked], model: AnswerModel) -> float:
    """How likely it is that the first hit answers; `notes` are best first, one hit per note, at least one."""
    best, first = notes[0], model.first_hit
    behind = best.score - np.array([one.score for one in notes[1 : 1 + COMPETITORS]])
    lead = behind[:FOLLOWERS].mean() if behind.size else best.score
    is_right = _probability(
        np.array(
            first.bias
            + first.score * best.score
            + first.lead * lead
            + first.close * (behind < CLOSE).sum() / COMPETITORS
            + first.found * best.found
        )
    )
    both = np.clip(best.relevance**model.power * is_right, _LEAST, 1 - _LEAST)
    return float(_probability(model.platt_bias + model.platt_slope * np.log(both / (1 - both))))


def _probability(total: NDArray[np.float64]) -> NDArray[np.float64]:
    probability: NDArray[np.float64] = 1 / (1 + np.exp(-total))
    return probability
