"""Passages in prompts that nobody asked for: counted as the hook decides."""

from __future__ import annotations

import pytest

from nur.domain.injection import MIN_CONFIDENCE
from nur.evaluation.asking import Answer
from nur.evaluation.dataset import DataSet, LabelledQuestion
from nur.evaluation.injection import injected_share, injection_scores
from nur.evaluation.measuring import Measured


def asked(text: str = "When is tea drunk at the lighthouse?") -> LabelledQuestion:
    return LabelledQuestion(id="q", text=text, scope=None, category="", units={"gold": 1.0}, spans=())


def answered(score: float, *ids: str) -> Answer:
    return Answer(ids=list(ids), spans=[], score=score)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (answered(MIN_CONFIDENCE, "a", "b", "gold"), {"injected": 1.0, "injected_gold@3": 1.0}),
        (answered(0.9, "a", "b", "c", "gold"), {"injected": 1.0, "injected_gold@3": 0.0}),  # the fourth is not shown
        (answered(MIN_CONFIDENCE - 0.01, "gold"), {"injected": 0.0}),  # not sure enough: nothing is shown
        (answered(0.0), {"injected": 0.0}),
    ],
)
def test_what_is_shown_and_whether_it_answers(answer: Answer, expected: dict[str, float]) -> None:
    assert injection_scores(asked(), answer) == expected


@pytest.mark.parametrize("prompt", ["Tea?", "When is tea drunk at the lighthouse? #skip"])
def test_short_prompts_and_those_that_forbid_it_get_nothing(prompt: str) -> None:
    assert injection_scores(asked(prompt), answered(0.9, "gold")) == {"injected": 0.0}


def test_the_share_of_prompts_about_something_else() -> None:
    assert injected_share([0.1, 0.2, 0.6, 0.9]) == 0.5
    assert injected_share([]) is None


def test_questions_asked_elsewhere_count_before_unanswerable_ones() -> None:
    measured = Measured("nur", confidence={"none": 0.9}, off_topic_confidence={"q": 0.1})
    unanswerable = LabelledQuestion(id="none", text="?", scope=None, category="abstention", units={}, spans=())
    data = DataSet("set", "turns", "doc", (), (unanswerable,))
    assert measured.injected_off_topic(data) == 0.0
    assert Measured("nur", confidence={"none": 0.9}).injected_off_topic(data) == 1.0
