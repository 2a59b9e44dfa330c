"""How sure it is that a hit answers: probabilities, from what is known of the hit and of the whole answer.

    relevance   of a hit:     P(the store answers the question | this is its best hit)
    confidence  of an answer: relevance³ of the first hit · P(it is the right one | the store answers), calibrated

Both are logistic models (`retrieval.calibration`). The strongest sign is the most telling word of the question that
the hit does not have: a store that knows much about Aga and nothing about her car is close to "when was Aga's car
serviced?" in every other way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.retrieval.calibration import FIRST_HIT, PLATT_BIAS, PLATT_SLOPE, RELEVANCE, STORED_POWER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

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

    covered: NDArray[np.float64]  #: share of the question's telling words
    missing: NDArray[np.float64]  #: share of the most telling word that is not there


def coverage(matched: NDArray[np.float64], terms: WeighedTerms) -> Coverage:
    """How much of the question each hit has; one row per hit, one column per term."""
    telling = (terms.importance >= 1.0) & (terms.weights > 0)
    weights = terms.weights[telling]
    if not weights.size:
        return Coverage(np.zeros(len(matched)), np.ones(len(matched)))
    weights = weights / weights.sum()
    full = np.minimum(matched[:, telling] / FULL_MATCH, 1.0)
    return Coverage(full @ weights, ((1 - full) * weights).max(axis=1))


def relevance(cosines: NDArray[np.float64], found: Coverage) -> NDArray[np.float64]:
    """How likely it is that the store answers, if each of these is its best hit."""
    return _probability(RELEVANCE.bias + RELEVANCE.cosine * cosines + RELEVANCE.missing * found.missing)


def answer_confidence(notes: Sequence[Ranked]) -> float:
    """How likely it is that the first hit answers; `notes` are best first, one hit per note, at least one."""
    best, model = notes[0], FIRST_HIT
    behind = best.score - np.array([one.score for one in notes[1 : 1 + COMPETITORS]])
    lead = behind[:FOLLOWERS].mean() if behind.size else best.score
    is_right = _probability(
        np.array(
            model.bias
            + model.score * best.score
            + model.lead * lead
            + model.covered * best.covered
            + model.missing * best.missing
            + model.close * (behind < CLOSE).sum() / COMPETITORS
        )
    )
    both = np.clip(best.relevance**STORED_POWER * is_right, _LEAST, 1 - _LEAST)
    return float(_probability(PLATT_BIAS + PLATT_SLOPE * np.log(both / (1 - both))))


def _probability(total: NDArray[np.float64]) -> NDArray[np.float64]:
    probability: NDArray[np.float64] = 1 / (1 + np.exp(-total))
    return probability
