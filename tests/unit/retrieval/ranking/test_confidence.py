"""Confidence, compared with its definition: logistic models of what is known of the hits."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.retrieval.calibration import FIRST_HIT, PLATT_BIAS, PLATT_SLOPE, RELEVANCE, STORED_POWER
from nur.retrieval.ranking.confidence import Coverage, answer_confidence, coverage, relevance
from nur.retrieval.ranking.queries import WeighedTerms
from nur.retrieval.ranking.rank import Ranked
from tests.candidates import a_candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

ONCE = 1 / 2.2  #: how well a piece of usual length matches a word that it has once


def sigmoid(total: float) -> float:
    return 1 / (1 + exp(-total))


def terms(importance: Sequence[float], weights: Sequence[float]) -> WeighedTerms:
    return WeighedTerms(np.arange(len(weights), dtype=np.uint32), np.array(importance), np.array(weights))


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
        covered=0.8,
        missing=0.1,
        relevance=0.9,
    )
    return [replace(first, score=score) for score in scores]


def test_coverage_counts_the_telling_words_alone() -> None:
    """The second term is a function word, the third is not stored anywhere."""
    matched = np.array([[ONCE, 0.0, 0.0, ONCE / 2], [2 * ONCE, ONCE, ONCE, 0.0], [0.0, 0.0, 0.0, 0.0]])
    found = coverage(matched, terms([1.0, 0.5, 1.0, 1.0], [3.0, 9.0, 0.0, 1.0]))
    assert found.covered == pytest.approx([0.75 + 0.125, 0.75, 0.0])
    assert found.missing == pytest.approx([0.125, 0.25, 0.75])


def test_a_question_without_telling_words_is_not_covered_at_all() -> None:
    found = coverage(np.ones((2, 1)), terms([0.5], [1.0]))
    assert (found.covered.tolist(), found.missing.tolist()) == ([0.0, 0.0], [1.0, 1.0])


def test_relevance_falls_with_what_is_missing_and_rises_with_the_cosine() -> None:
    found = relevance(np.array([0.2, 0.7]), Coverage(np.zeros(2), np.array([0.0, 0.6])))
    expected = [
        sigmoid(RELEVANCE.bias + RELEVANCE.cosine * cosine + RELEVANCE.missing * missing)
        for cosine, missing in ((0.2, 0.0), (0.7, 0.6))
    ]
    assert found == pytest.approx(expected)


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
    model = FIRST_HIT
    is_right = sigmoid(
        model.bias
        + model.score * 0.9
        + model.lead * lead
        + model.covered * 0.8
        + model.missing * 0.1
        + model.close * close / 9
    )
    both = 0.9**STORED_POWER * is_right
    expected = sigmoid(PLATT_BIAS + PLATT_SLOPE * log(both / (1 - both)))
    assert answer_confidence(hits(*scores)) == pytest.approx(expected)
