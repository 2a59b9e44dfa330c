"""The paired bootstrap: how sure a difference is."""

from __future__ import annotations

import random

import pytest

from nur.evaluation.report import paired_bootstrap

DRAW = random.Random(7)
BEFORE = [float(DRAW.random() < 0.5) for _ in range(200)]


def test_a_steady_gain_is_certain() -> None:
    found = paired_bootstrap([0.2] * 50, [0.5] * 50)
    assert found == pytest.approx((0.3, 0.3, 0.3))


def test_no_difference_has_an_interval_around_zero() -> None:
    after = BEFORE[100:] + BEFORE[:100]
    found = paired_bootstrap(BEFORE, after)
    assert found.low < 0 < found.high
    assert found.low <= found.mean <= found.high


def test_the_order_of_the_two_is_after_less_before() -> None:
    assert paired_bootstrap([1.0] * 9, [0.0] * 9).mean == -1.0


def test_the_same_figures_come_every_time() -> None:
    after = [min(1.0, value + 0.1) for value in BEFORE]
    assert paired_bootstrap(BEFORE, after) == paired_bootstrap(BEFORE, after)


def test_drawing_whole_conversations_makes_the_interval_wider() -> None:
    # All of the gain is in one conversation of four: 50 questions are one piece of evidence, not 50.
    groups = [str(place // 50) for place in range(200)]
    after = [value + (1.0 if group == "0" else 0.0) for value, group in zip(BEFORE, groups, strict=True)]
    alone, together = paired_bootstrap(BEFORE, after), paired_bootstrap(BEFORE, after, groups)
    assert alone.mean == together.mean
    assert together.low == 0.0 < alone.low
    assert together.high > alone.high


@pytest.mark.parametrize(("before", "after", "groups"), [([1.0], [1.0, 0.0], None), ([], [], None), ([1.0], [1.0], [])])
def test_two_systems_need_the_same_questions(before: list[float], after: list[float], groups: list[str] | None) -> None:
    with pytest.raises(ValueError, match="same questions"):
        paired_bootstrap(before, after, groups)
