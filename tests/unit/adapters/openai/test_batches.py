"""Requests hold as much as both limits allow, and every text once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.adapters.openai.batches import BatchLimits, split


def test_texts_are_cut_by_count() -> None:
    batches = split(["a"] * 250, len, BatchLimits(texts=100))
    assert [len(batch.texts) for batch in batches] == [100, 100, 50]
    assert [(batch.index, batch.start, batch.end) for batch in batches] == [(0, 0, 100), (1, 100, 200), (2, 200, 250)]


def test_texts_are_cut_by_tokens() -> None:
    batches = split(["aaaa", "bbbb", "cc", "dddd"], len, BatchLimits(tokens=10))
    assert [batch.texts for batch in batches] == [("aaaa", "bbbb", "cc"), ("dddd",)]
    assert [batch.tokens for batch in batches] == [10, 4]


def test_a_text_over_the_token_limit_travels_alone() -> None:
    batches = split(["a", "b" * 99, "c"], len, BatchLimits(tokens=10))
    assert [batch.texts for batch in batches] == [("a",), ("b" * 99,), ("c",)]


def test_no_texts_make_no_batch() -> None:
    assert split([], len, BatchLimits()) == []


def test_each_text_is_counted_once() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return 1

    split(["a", "b", "c"], count, BatchLimits(texts=1))
    assert counted == ["a", "b", "c"]


@pytest.mark.parametrize("limits", [{"texts": 0}, {"texts": 2049}, {"tokens": 0}, {"in_flight": 0}])
def test_limits_the_api_does_not_have_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="batch"):
        BatchLimits(**limits)


@given(st.lists(st.text(max_size=12)), st.integers(1, 5), st.integers(1, 20))
def test_batches_hold_every_text_in_order_within_both_limits(texts: list[str], most: int, tokens: int) -> None:
    batches = split(texts, len, BatchLimits(texts=most, tokens=tokens))
    assert [text for batch in batches for text in batch.texts] == texts
    assert [batch.index for batch in batches] == list(range(len(batches)))
    for batch in batches:
        assert texts[batch.start : batch.end] == list(batch.texts)
        assert 1 <= len(batch.texts) <= most
        assert batch.tokens == sum(map(len, batch.texts))
        assert batch.tokens <= tokens or len(batch.texts) == 1
