"""What is measured of answers about things that changed."""

from __future__ import annotations

import pytest

from nur.evaluation.changes import Pair, change_scores, pair_of
from nur.evaluation.dataset import LabelledQuestion, Row

ROWS = {
    name: Row(name, text, {}, "turn")
    for name, text in {
        "a": "150 commits are merged.",
        "b": "Thanks!",
        "c": "165 commits are merged.",
        "d": "I like tests.",
    }.items()
}


def question(*units: str, category: str = "knowledge_update") -> LabelledQuestion:
    return LabelledQuestion(
        id="q",
        text="How many commits?",
        scope=None,
        category=category,
        units=dict.fromkeys(units, 1.0),
        spans=(),
        answer="165 commits",
    )


def test_a_pair_is_the_first_row_and_the_last_one_with_the_answer() -> None:
    assert pair_of(question("a", "c", "d"), ROWS) == Pair(newer="c", older="a")
    assert pair_of(question("c"), ROWS) is None
    assert pair_of(question("a", "c", category="summarization"), ROWS) is None


@pytest.mark.parametrize(
    ("ids", "newer_first", "stale_first"),
    [(["c", "a"], 1, 0), (["a", "c"], 0, 1), (["d", "a"], 0, 0), (["d", "c"], 1, 0), ([], 0, 0)],
)
def test_the_newer_row_should_stand_first(ids: list[str], newer_first: float, stale_first: float) -> None:
    scores = change_scores(question("a", "c"), ids, ROWS, flagged=False, has_conflicts=False)
    assert scores == {"newer_first": newer_first, "stale_first": stale_first}


def test_a_flag_is_right_where_there_is_a_contradiction() -> None:
    asked = question("a", category="contradiction_resolution")
    assert change_scores(asked, [], ROWS, flagged=True, has_conflicts=True) == {"conflict_flagged": 1.0}
    other = question("a", category="summarization")
    assert change_scores(other, [], ROWS, flagged=True, has_conflicts=True) == {"false_alarm": 1.0}
    assert change_scores(other, [], ROWS, flagged=True, has_conflicts=False) == {}
