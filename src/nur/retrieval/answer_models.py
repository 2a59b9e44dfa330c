"""Coefficients of the relevance and confidence models, for each embedding model that was measured.

    relevance   of a hit:     P(the store answers the question | this is its best hit)
    confidence  of an answer: relevance^power of the first hit · P(it is the right one | the store answers), calibrated

`release/fit_confidence.py` fits them on half A of everyday, LoCoMo and BEAM (the sentence models: everyday alone),
including questions put to a store that cannot answer them. Each set has its own intercept, so that its share of
unanswerable questions teaches nothing; the intercepts here are everyday's. Checked on half B: docs/quality.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from nur.retrieval.calibration import LOCAL, MODELS


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceModel:
    """Predicts whether the store answers the question, from its best hit."""

    bias: float
    cosine: float = 0.0  #: of the best piece, by the packaged model
    model_cosine: float = 0.0  #: the same by the store's own model
    missing: float  #: weight of the heaviest content word that the piece lacks, 0 to 1
    matched_words: float  #: log1p of the number of content words that the piece contains


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstHitModel:
    """Predicts whether the first hit is the right one, given that the store answers."""

    bias: float
    score: float
    lead: float  #: mean distance of the next four hits' scores from the best
    close: float  #: share of the next nine hits that score nearly as well
    matched_words: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerModel:
    """Both models, and how they combine to one probability."""

    relevance: RelevanceModel
    first_hit: FirstHitModel
    power: int  #: of relevance
    platt_bias: float
    platt_slope: float


PACKAGED = AnswerModel(
    relevance=RelevanceModel(bias=-0.841, cosine=7.367, missing=-3.664, matched_words=0.921),
    first_hit=FirstHitModel(bias=-2.125, score=-1.359, lead=10.91, close=-0.906, matched_words=1.403),
    power=6,
    platt_bias=0.186,
    platt_slope=0.396,
)
"""Also for models that were not measured: its inputs do not depend on the store's own model."""

SENTENCE_MODELS = AnswerModel(
    relevance=RelevanceModel(bias=-1.527, model_cosine=10.774, missing=-4.324, matched_words=1.003),
    first_hit=FirstHitModel(bias=-0.657, score=0.596, lead=2.59, close=-4.673, matched_words=0.171),
    power=8,
    platt_bias=0.183,
    platt_slope=0.184,
)

_MEASURED = {LOCAL.embedding_version: PACKAGED, MODELS.embedding_version: SENTENCE_MODELS}


def answer_model_of(embedding_version: str) -> AnswerModel:
    """The coefficients for an embedding version; the packaged model's if it was not measured."""
    return _MEASURED.get(embedding_version, PACKAGED)
