from __future__ import annotations

import numpy as np
import pytest

from nur.retrieval.pieces.vectors import pool


def test_the_mean_has_unit_length() -> None:
    pooled = pool([[1.0, 0.0], [0.0, 1.0]])
    assert pooled.dtype == np.float32
    assert pooled == pytest.approx([2**-0.5, 2**-0.5])


def test_one_vector_is_only_normalised() -> None:
    assert pool([[3.0, 4.0]]) == pytest.approx([0.6, 0.8])


def test_weights_pull_the_mean() -> None:
    pooled = pool([[1.0, 0.0], [0.0, 1.0]], weights=[3, 1])
    assert pooled == pytest.approx(np.array([3.0, 1.0]) / 10**0.5)


def test_a_weight_of_zero_leaves_a_vector_out() -> None:
    assert pool([[1.0, 0.0], [0.0, 1.0]], weights=[0, 5]) == pytest.approx([0.0, 1.0])


def test_vectors_that_cancel_out_are_represented_by_the_heaviest() -> None:
    assert pool([[1.0, 0.0], [-1.0, 0.0]]) == pytest.approx([1.0, 0.0])
    assert pool([[0.0, 1.0], [0.0, -1.0], [0.0, -1.0]], weights=[2, 1, 1]) == pytest.approx([0.0, 1.0])


def test_zeros_stay_zeros() -> None:
    assert pool([[0.0, 0.0]]).tolist() == [0.0, 0.0]


def test_many_float32_rows_do_not_lose_precision() -> None:
    rows = np.full((100_000, 4), 0.5, dtype=np.float32)
    assert pool(rows) == pytest.approx([0.5] * 4, abs=1e-7)


@pytest.mark.parametrize(
    ("vectors", "weights"),
    [
        ([], None),
        ([1.0, 2.0], None),  # a vector is not rows of vectors
        ([[1.0, float("nan")]], None),
        ([[1.0, 2.0]], [1, 1]),
        ([[1.0, 2.0]], [-1]),
        ([[1.0, 2.0]], [float("inf")]),
    ],
)
def test_nonsense_is_refused(vectors: list[object], weights: list[float] | None) -> None:
    with pytest.raises(ValueError, match=r"pool|finite"):
        pool(np.array(vectors), weights)
