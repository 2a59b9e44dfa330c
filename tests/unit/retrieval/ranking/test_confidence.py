"""Confidence, compared with its definition: logistic models of what is known of the hits."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, log1p
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.retrieval.calibration import LOCAL, MODELS
from nur.retrieval.ranking.confidence import (
    PACKAGED,
    SENTENCE_MODELS,
    AnswerModel,
    Coverage,
    answer_confidence,
    answer_model_of,
    coverage,
    relevance,
)
from nur.retrieval.ranking.queries import WeightedTerms
from nur.retrieval.ranking.rank import Ranked
from tests.candidates import a_candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

ONCE = 1 / 2.2  #: how well a piece of usual length matches a word that it has once


def sigmoid(total: float) -> float:
    return 1 / (1 + exp(-total))


def terms(importance: Sequence[float], weights: Sequence[float]) -> WeightedTerms:
    return WeightedTerms(np.arange(len(weights), dtype=np.uint32), np.array(importance), np.array(weights))


def hits(*scores: float) -> list[Ranked]:
    first = Ranked(
        candidate=a_candidate("Tea is drunk at four."),
        score=scores[0],
        lexical=0.5,
        cosine=0.5,
        bonus=0.0,
        rrf_score=0.0,
        ranks={},
        piece_scores=np.zeros(0),
        matched_words=0.8,
        relevance=0.9,
    )
    return [replace(first, score=score) for score in scores]


def test_coverage_counts_content_words_only() -> None:
    """The second term is a function word, the third is not stored anywhere."""
    matched = np.array([[ONCE, 0.0, 0.0, ONCE / 2], [2 * ONCE, ONCE, ONCE, 0.0], [0.0, 0.0, 0.0, 0.0]])
    found = coverage(matched, terms([1.0, 0.5, 1.0, 1.0], [3.0, 9.0, 0.0, 1.0]))
    assert found.matched_words == pytest.approx([log1p(1.5), log1p(1.0), 0.0])
    assert found.missing == pytest.approx([0.125, 0.25, 0.75])


def test_a_question_without_content_words_is_not_covered_at_all() -> None:
    found = coverage(np.ones((2, 1)), terms([0.5], [1.0]))
    assert (found.matched_words.tolist(), found.missing.tolist()) == ([0.0, 0.0], [1.0, 1.0])


@pytest.mark.parametrize("model", [PACKAGED, SENTENCE_MODELS])
def test_relevance_falls_with_what_is_missing_and_rises_with_cosine_and_words(model: AnswerModel) -> None:
    cover = Coverage(np.array([0.0, 0.6]), np.array([1.1, 0.0]))
    found = relevance(np.array([0.2, 0.7]), np.array([0.5, np.nan]), cover, model.relevance)
    own = model.relevance
    expected = [
        sigmoid(
            own.bias + own.cosine * cosine + own.model_cosine * near + own.missing * missing + own.matched_words * words
        )
        for cosine, near, missing, words in ((0.2, 0.5, 0.0, 1.1), (0.7, 0.0, 0.6, 0.0))  # not compared: no cosine
    ]
    assert found == pytest.approx(expected)


def test_a_model_that_nobody_measured_has_the_packaged_models_fit() -> None:
    known = [answer_model_of(one.embedding_version) for one in (LOCAL, MODELS)]
    assert [*known, answer_model_of("openai:other:3")] == [PACKAGED, SENTENCE_MODELS, PACKAGED]


@pytest.mark.parametrize(
    ("scores", "lead", "close"),
    [
        ([0.9], 0.9, 0),  # alone: the whole score leads
        ([0.9, 0.5], 0.4, 0),
        ([0.9, 0.86, 0.5], 0.22, 1),  # one is close
        ([0.9, 0.5, 0.5, 0.5, 0.5, 0.1], 0.4, 0),  # only four followers make the lead
        ([0.9, *[0.88] * 12], 0.02, 9),  # only nine compete
    ],
)
def test_confidence_follows_the_score_the_lead_and_the_competition(
    scores: list[float], lead: float, close: int
) -> None:
    first = PACKAGED.first_hit
    is_right = sigmoid(
        first.bias + first.score * 0.9 + first.lead * lead + first.matched_words * 0.8 + first.close * close / 9
    )
    both = 0.9**PACKAGED.power * is_right
    expected = sigmoid(PACKAGED.platt_bias + PACKAGED.platt_slope * log(both / (1 - both)))
    assert answer_confidence(hits(*scores), PACKAGED) == pytest.approx(expected)


def test_an_answer_is_as_relevant_as_the_best_of_its_first_hits() -> None:
    found = hits(0.5, 0.4, 0.4, 0.4, 0.4, 0.4)
    better = [*found[:4], replace(found[4], relevance=0.95), found[5]]
    too_late = [*found[:5], replace(found[5], relevance=0.95)]
    assert answer_confidence(better, PACKAGED) > answer_confidence(found, PACKAGED)
    assert answer_confidence(too_late, PACKAGED) == answer_confidence(found, PACKAGED)
