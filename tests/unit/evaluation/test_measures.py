"""The metrics: what each of them rewards, and what it does not."""

from __future__ import annotations

import pytest

from nur.evaluation.measures import RowSpan, auroc, cut_to_budget, mean, span_metrics, unit_metrics

GOLD = [RowSpan("report", 100, 200)]


def test_recall_counts_the_share_of_the_gold_within_the_rank() -> None:
    scores = unit_metrics(["x", "a", *"qrstuvw", "y", "b"], {"a": 1, "b": 1})
    assert (scores["recall@1"], scores["recall@5"], scores["recall@10"]) == (0.0, 0.5, 0.5)
    assert (scores["hit@5"], scores["all@10"], scores["mrr"]) == (1.0, 0.0, 0.5)


def test_ndcg_reads_grades_and_is_one_for_the_ideal_order() -> None:
    gold = {"best": 2.0, "good": 1.0}
    assert unit_metrics(["best", "good"], gold)["ndcg@10"] == pytest.approx(1.0)
    assert 0 < unit_metrics(["good", "best"], gold)["ndcg@10"] < 1


@pytest.mark.parametrize(
    ("shown", "recall"),
    [
        ([RowSpan("report", 100, 200)], 1.0),  # the very passage
        ([RowSpan("report", 0, 150)], 0.5),  # half of it
        ([RowSpan("other", 100, 200)], 0.0),  # the same place in another document
        ([RowSpan("other", 0, 900), RowSpan("report", 0, 1200)], 0.0),  # the budget ends before it is reached
        ([RowSpan("other", 0, 850), RowSpan("report", 0, 150)], 0.5),  # a range at the border keeps its head
        ([RowSpan("report", 100, 150), RowSpan("report", 100, 150)], 0.5),  # shown twice, found once
        ([], 0.0),  # nothing
    ],
)
def test_more_text_cannot_buy_span_recall(shown: list[RowSpan], recall: float) -> None:
    assert span_metrics(shown, GOLD)["span_recall@1000c"] == recall


def test_a_passage_is_found_when_half_of_the_shorter_range_is_shared() -> None:
    assert span_metrics([RowSpan("report", 150, 400)], GOLD)["passage_hit@1"] == 1.0
    assert span_metrics([RowSpan("report", 151, 400)], GOLD)["passage_hit@1"] == 0.0
    assert span_metrics([RowSpan("report", 151, 400)], GOLD)["doc_hit@1"] == 1.0


def test_all_spans_wants_every_piece_of_evidence() -> None:
    gold = [*GOLD, RowSpan("letter", 0, 50)]
    assert span_metrics([RowSpan("report", 100, 200)], gold)["all_spans@5"] == 0.0
    assert span_metrics([RowSpan("report", 100, 200), RowSpan("letter", 0, 50)], gold)["all_spans@5"] == 1.0


def test_tightness_falls_with_text_that_nobody_asked_for() -> None:
    tight, loose = span_metrics([RowSpan("report", 100, 200)], GOLD), span_metrics([RowSpan("report", 0, 1000)], GOLD)
    assert [tight["iou@5"], loose["iou@5"]] == pytest.approx([1.0, 0.1])


def test_a_budget_cuts_the_last_range_only() -> None:
    assert cut_to_budget([RowSpan("a", 0, 6), RowSpan("b", 10, 20), RowSpan("c", 0, 5)], 10) == [
        RowSpan("a", 0, 6),
        RowSpan("b", 10, 14),
    ]


@pytest.mark.parametrize(
    ("answerable", "unanswerable", "area"),
    [
        ([0.9, 0.8], [0.1, 0.2], 1.0),
        ([0.1], [0.9], 0.0),
        ([0.5, 0.5], [0.5], 0.5),  # a tie counts half
    ],
)
def test_auroc_is_the_chance_that_an_answerable_question_scores_higher(
    answerable: list[float], unanswerable: list[float], area: float
) -> None:
    assert auroc(answerable, unanswerable) == area


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(ValueError, match="without gold"):
        unit_metrics(["a"], {})
    with pytest.raises(ValueError, match="without gold"):
        span_metrics([], [])
    with pytest.raises(ValueError, match="twice"):
        unit_metrics(["a", "a"], {"a": 1})
    with pytest.raises(ValueError, match="not a range"):
        span_metrics([RowSpan("report", 5, 5)], GOLD)
    with pytest.raises(ValueError, match="both kinds"):
        auroc([0.5], [])


def test_a_mean_is_taken_metric_by_metric() -> None:
    assert mean([{"mrr": 1.0, "hit": 0.0}, {"mrr": 0.5, "hit": 0.0}]) == {"mrr": 0.75, "hit": 0.0}
