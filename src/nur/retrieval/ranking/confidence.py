"""Probabilities that a hit is relevant and that the first hit answers.

Both are logistic models. Their inputs are the piece's cosine, the heaviest content word of the question that the piece
lacks, and how many content words it contains. The missing word matters: a store with much about Aga and nothing about
her car is close to "when was Aga's car serviced?" in every other way.

    relevance   of a hit:     P(the store answers the question | this is its best hit)
    confidence  of an answer: relevance^power · P(the first hit is the right one | the store answers), calibrated

An answer's relevance is the best of its first hits': the store may answer below the first place.

`release/fit_confidence.py` fits them on half A of everyday, LoCoMo and BEAM (the sentence models: everyday alone),
including questions put to a store that cannot answer them. Each set has its own intercept, so that its share of
unanswerable questions teaches nothing; the intercepts here are everyday's. Checked on half B: docs/quality.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.retrieval.calibration import LOCAL, MODELS
from nur.retrieval.ranking.scores import K1

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nur.retrieval.ranking.queries import WeightedTerms
    from nur.retrieval.ranking.rank import Ranked

FULL_MATCH = 1 / (1 + K1)
"""BM25 match of a word that occurs once in a piece of the reference length."""

CLOSE = 0.05
"""Hits within this distance of the best score compete with it."""

FIRST_HITS = 5
"""Hits whose best relevance counts. With the first alone everyday's AUROC of what was never stored is .01 lower."""

COMPETITORS = 9
FOLLOWERS = 4
_EPSILON = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceModel:
    """Coefficients of the probability that the store answers; each is named after its input."""

    bias: float
    cosine: float = 0.0  #: of the best piece, by the packaged model
    model_cosine: float = 0.0  #: the same by the store's own model
    missing: float  #: weight of the heaviest content word that the piece lacks, 0 to 1
    matched_words: float  #: log1p of the number of content words that the piece contains


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstHitModel:
    """Coefficients of the probability that the first hit is the right one, given that the store answers."""

    bias: float
    score: float
    lead: float  #: mean distance of the next four hits' scores from the best
    close: float  #: share of the next nine hits that score nearly as well
    matched_words: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerModel:
    """Both models, and how they combine into one probability."""

    relevance: RelevanceModel
    first_hit: FirstHitModel
    power: int  #: exponent of the relevance
    platt_bias: float
    platt_slope: float


PACKAGED = AnswerModel(
    relevance=RelevanceModel(bias=-0.841, cosine=7.367, missing=-3.664, matched_words=0.921),
    first_hit=FirstHitModel(bias=-2.125, score=-1.359, lead=10.91, close=-0.906, matched_words=1.403),
    power=6,
    platt_bias=0.132,
    platt_slope=0.360,
)
"""Also for models that were not measured: its inputs do not depend on the store's own model."""

SENTENCE_MODELS = AnswerModel(
    relevance=RelevanceModel(bias=-1.527, model_cosine=10.774, missing=-4.324, matched_words=1.003),
    first_hit=FirstHitModel(bias=-0.657, score=0.596, lead=2.59, close=-4.673, matched_words=0.171),
    power=8,
    platt_bias=0.147,
    platt_slope=0.169,
)

_MEASURED = {LOCAL.embedding_version: PACKAGED, MODELS.embedding_version: SENTENCE_MODELS}


def answer_model_of(embedding_version: str) -> AnswerModel:
    """The coefficients for an embedding version; the packaged model's if it was not measured."""
    return _MEASURED.get(embedding_version, PACKAGED)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coverage of a question's content words by each hit."""

    missing: NDArray[np.float64]  #: weight of the heaviest missing word; those of all words sum to 1
    matched_words: NDArray[np.float64]  #: log1p of the number of words that are there


def coverage(matched: NDArray[np.float64], terms: WeightedTerms) -> Coverage:
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
    gaps = best.score - np.array([one.score for one in notes[1 : 1 + COMPETITORS]])
    lead = gaps[:FOLLOWERS].mean() if gaps.size else best.score
    is_right = _probability(
        np.array(
            weights.bias
            + weights.score * best.score
            + weights.lead * lead
            + weights.close * (gaps < CLOSE).sum() / COMPETITORS
            + weights.matched_words * best.matched_words
        )
    )
    is_answered = max(one.relevance for one in notes[:FIRST_HITS])
    both = np.clip(is_answered**model.power * is_right, _EPSILON, 1 - _EPSILON)
    return float(_probability(model.platt_bias + model.platt_slope * np.log(both / (1 - both))))


def _probability(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    probability: NDArray[np.float64] = 1 / (1 + np.exp(-logits))
    return probability
