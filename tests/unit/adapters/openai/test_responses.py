"""Only exactly the vectors that were asked for get through."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.adapters.openai.responses import DimensionsError, ResponseError, read

GOOD = [{"index": 0, "embedding": [3.0, 4.0]}, {"index": 1, "embedding": [0.0, -2.0]}]


def body(data: object, **more: object) -> bytes:
    return json.dumps({"object": "list", "data": data, **more}).encode()


def encoded(numbers: list[float]) -> str:
    return base64.b64encode(np.array(numbers, "<f4").tobytes()).decode()


def first(embedding: object) -> list[dict[str, Any]]:
    return [{"index": 0, "embedding": embedding}, GOOD[1]]


def test_vectors_come_out_as_float32_of_unit_length() -> None:
    vectors = read(body(GOOD), count=2, dimensions=2).vectors
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [[0.6, 0.8], [0.0, -1.0]])


def test_base64_and_lists_give_the_same_vectors() -> None:
    packed = [{**item, "embedding": encoded(item["embedding"])} for item in GOOD]  # type: ignore[arg-type]
    np.testing.assert_array_equal(
        read(body(packed), count=2, dimensions=2).vectors, read(body(GOOD), count=2, dimensions=2).vectors
    )


def test_the_order_is_restored_by_index() -> None:
    np.testing.assert_array_equal(
        read(body(GOOD[::-1]), count=2, dimensions=2).vectors, read(body(GOOD), count=2, dimensions=2).vectors
    )


def test_whole_numbers_are_numbers() -> None:
    assert read(body(first([3, 4])), count=2, dimensions=2).vectors[0].tolist() == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize(
    ("usage", "tokens"), [({"total_tokens": 7}, 7), ({}, None), (None, None), ({"total_tokens": "7"}, None)]
)
def test_tokens_are_known_only_if_the_provider_says_so(usage: object, tokens: int | None) -> None:
    assert read(body(GOOD, usage=usage), count=2, dimensions=2).tokens == tokens


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html></html>",
        b"\xff\xfe",
        b"[" * 100_000,  # deep enough to exhaust the parser's stack
        body(GOOD)[:-10],
        b"null",
        b"[]",
        b"{}",
        body(None),
        body({}),
        body([]),
        body(GOOD[:1]),  # fewer
        body([*GOOD, {"index": 2, "embedding": [1.0, 0.0]}]),  # more
        body([GOOD[0], GOOD[0]]),  # the same twice
        body([GOOD[0], {"index": 2, "embedding": [1.0, 0.0]}]),  # a gap
        body([GOOD[0], {"index": -1, "embedding": [1.0, 0.0]}]),
        body([GOOD[0], {"index": True, "embedding": [1.0, 0.0]}]),  # Python would take True for 1
        body([GOOD[0], {"index": "1", "embedding": [1.0, 0.0]}]),
        body([GOOD[0], {"embedding": [1.0, 0.0]}]),
        body([GOOD[0], None]),
        body([GOOD[0], {"index": 1}]),
        body(first(None)),
        body(first({})),
        body(first([None, 1.0])),
        body(first(["1.0", "2.0"])),  # numpy would read the strings
        body(first([True, False])),
        body(first([[1.0], [2.0, 3.0]])),
        body(first([[1.0, 2.0]])),
        body(first([float("nan"), 1.0])),
        body(first([float("inf"), 1.0])),
        body(first([1e300, 1e300])),  # finite, but its length is not
        body(first([10**400, 1])),
        body(first([0.0, 0.0])),
        body(first([1e-30, 0.0])),  # as good as zero
        body(first("not base64!")),
        body(first("AAA=")),  # two bytes are no float
        body(first(encoded([float("nan"), 1.0]))),
        body(first(encoded([0.0, 0.0]))),
    ],
)
def test_anything_wrong_is_an_error(answer: bytes) -> None:
    with pytest.raises(ResponseError):
        read(answer, count=2, dimensions=2)


@pytest.mark.parametrize("vector", [[], [1.0], [1.0, 2.0, 3.0], encoded([1.0, 2.0, 3.0]), ""])
def test_another_size_is_named_as_such(vector: object) -> None:
    with pytest.raises(DimensionsError, match="dimensions instead of 2"):
        read(body(first(vector)), count=2, dimensions=2)


def test_an_error_repeats_nothing_of_the_answer() -> None:
    with pytest.raises(ResponseError) as caught:
        read(b'{"data": "canary"}', count=1, dimensions=2)
    assert "canary" not in str(caught.value)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists, max_leaves=8))
def test_whatever_is_sent_as_a_vector_gives_a_unit_vector_or_an_error(sent: object) -> None:
    try:
        vectors = read(body([{"index": 0, "embedding": sent}]), count=1, dimensions=2).vectors
    except ResponseError:
        return
    assert np.linalg.norm(vectors[0]) == pytest.approx(1.0, abs=1e-6)
