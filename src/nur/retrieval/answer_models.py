"""Logistic models of whether an answer can be believed, for each embedding model that was measured.

    relevance   of a hit:     P(the store answers the question | this is its best hit)
    confidence  of an answer: relevance^power of the first hit · P(it is the right one | the store answers), calibrated

Fitted on half A of everyday, LoCoMo and BEAM (the sentence models: everyday), questions asked of somebody else's store
among them. Each set has an intercept of its own, so that its share of unanswerable questions teaches nothing; the
intercepts here are everyday's. Checked on half B: docs/quality.md. `release/fit_confidence.py` does it.
"""

from __future__ import annotations

from dataclasses import dataclass

from nur.retrieval.calibration import LOCAL, MODELS


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceModel:
    """Whether the store answers, from its best hit."""

    bias: float
    cosine: float = 0.0  #: of the best piece with the question, by the packaged model
    model_cosine: float = 0.0  #: the same by the store's own model
    missing: float  #: share of the most telling word that the piece does not have
    found: float  #: log of one more than the telling words that it has


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstHitModel:
    """Whether the first hit is the right one, if the store answers."""

    bias: float
    score: float
    lead: float  #: how far the next four hits are behind, on average
    close: float  #: share of the next nine hits that score nearly as well
    found: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerModel:
    """Both, and how they become one probability."""

    relevance: RelevanceModel
    first_hit: FirstHitModel
    power: int  #: of relevance
    platt_bias: float
    platt_slope: float


PACKAGED = AnswerModel(
    relevance=RelevanceModel(bias=-0.841, cosine=7.367, missing=-3.664, found=0.921),
    first_hit=FirstHitModel(bias=-2.125, score=-1.359, lead=10.91, close=-0.906, found=1.403),
    power=6,
    platt_bias=0.186,
    platt_slope=0.396,
)
"""Also for models that nobody measured: what it looks at is there whatever the store's own model is."""

SENTENCE_MODELS = AnswerModel(
    relevance=RelevanceModel(bias=-1.527, model_cosine=10.774, missing=-4.324, found=1.003),
    first_hit=FirstHitModel(bias=-0.657, score=0.596, lead=2.59, close=-4.673, found=0.171),
    power=8,
    platt_bias=0.183,
    platt_slope=0.184,
)

_MEASURED = {LOCAL.embedding_version: PACKAGED, MODELS.embedding_version: SENTENCE_MODELS}


def answer_model_of(embedding_version: str) -> AnswerModel:
    """The models of an embedding version; the packaged model's for one that was not measured."""
    return _MEASURED.get(embedding_version, PACKAGED)
