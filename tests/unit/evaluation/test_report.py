"""Parts of a data set, and differences between systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.evaluation.dataset import DataSet, LabelledQuestion, Row
from nur.evaluation.measures import unit_metrics
from nur.evaluation.measuring import Measured
from nur.evaluation.report import Conditions, Report
from nur.evaluation.table import figure

if TYPE_CHECKING:
    from collections.abc import Sequence

CONDITIONS = Conditions(embedding_version="m", chunking="window", mode="hybrid", max_chars=2000, limit=50)


def report(scopes: Sequence[str | None], *, found: Sequence[bool], categories: Sequence[str] | None = None) -> Report:
    """Nur finds what `found` says, the baseline nothing."""
    rows = tuple(Row(str(place), "text", {"scope": scope} if scope else {}) for place, scope in enumerate(scopes))
    names = categories or [""] * len(rows)
    questions = tuple(
        LabelledQuestion(row.id, "?", row.scope, name, {row.id: 1.0}, ()) for row, name in zip(rows, names, strict=True)
    )
    nur, baseline = Measured("nur"), Measured("lexical")
    for question, hit in zip(questions, found, strict=True):
        nur.scores[question.id] = unit_metrics([question.id] if hit else [], question.units)
        baseline.scores[question.id] = unit_metrics([], question.units)
    return Report(DataSet("set", "turns", "", rows, questions), CONDITIONS, nur, (baseline,), 0.0)


def test_halves_are_whole_conversations_where_there_are_some() -> None:
    halves = report(["a", "b", "a", "c", "b"], found=[True] * 5).halves()
    assert [[question.id for question in part.questions] for part in halves] == [["0", "1", "2", "4"], ["3"]]


def test_halves_are_even_and_odd_questions_elsewhere() -> None:
    halves = report([None] * 5, found=[True] * 5).halves()
    assert [[question.id for question in part.questions] for part in halves] == [["0", "2", "4"], ["1", "3"]]


def test_categories_keep_their_order_and_no_category_is_none() -> None:
    parts = report([None] * 3, found=[True] * 3, categories=["late", "early", "late"]).categories()
    assert [(part.name, len(part.questions)) for part in parts] == [("late", 2), ("early", 1)]
    assert report([None] * 3, found=[True] * 3).categories() == []


def test_whole_conversations_are_drawn_for_a_difference() -> None:
    found = [True] * 50 + [False] * 50
    by_question = report([None] * 100, found=found)
    by_scope = report(["a"] * 50 + ["b"] * 50, found=found)
    alone = by_question.difference(by_question.baselines[0], "recall@10")
    together = by_scope.difference(by_scope.baselines[0], "recall@10")
    assert alone is not None
    assert together is not None
    assert alone.mean == together.mean == 0.5
    assert (together.low, together.high) == (0.0, 1.0)
    assert 0.3 < alone.low < alone.high < 0.7


def test_figures_have_three_digits_and_no_zero_before_the_point() -> None:
    assert [figure(value) for value in (0.7314, 1.0, 0.0, None)] == [".731", "1.000", ".000", "–"]
