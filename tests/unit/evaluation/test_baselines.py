"""The first specification's fusion, section 4.2.5, defects and all."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from nur.evaluation.baselines import specified_fusion


class Result(NamedTuple):
    source: str
    number: int | None = None  #: of the chunk; None for a whole artifact or a memory

    @property
    def is_chunk(self) -> bool:
        return self.number is not None


def merged(*collections: list[Result], limit: int = 5) -> list[tuple[Result, float]]:
    return specified_fusion(
        collections, limit, source=lambda result: result.source, is_chunk=lambda result: result.is_chunk
    )


def test_collections_are_taken_in_turn_whatever_their_similarities() -> None:
    artifacts, memories = [Result("a"), Result("b")], [Result("m"), Result("n")]
    found = merged(artifacts, memories)
    assert [result.source for result, _ in found] == ["a", "m", "b", "n"]
    assert [score for _, score in found] == pytest.approx([1 / 61, 1 / 61, 1 / 62, 1 / 62])


def test_the_cut_comes_before_the_dedupe_so_that_one_long_document_leaves_one_result() -> None:
    chunks = [*(Result("long", number) for number in range(5)), Result("other", 0)]
    assert [result.source for result, _ in merged(chunks, limit=5)] == ["long"]
    assert [result.source for result, _ in merged(chunks, limit=6)] == ["long", "other"]


def test_a_later_chunk_takes_the_place_of_a_better_one_at_the_end() -> None:
    chunks = [Result("long", 3), Result("other", 0), Result("long", 8)]
    assert [result for result, _ in merged(chunks)] == [Result("other", 0), Result("long", 8)]


def test_a_later_whole_artifact_does_not_take_the_place_of_anything() -> None:
    assert [result for result, _ in merged([Result("a"), Result("b"), Result("a")])] == [Result("a"), Result("b")]


def test_nothing_found_is_nothing_merged() -> None:
    assert merged([], []) == []
