"""Vectors whole and as signs."""

from __future__ import annotations

import numpy as np
import pytest

from nur.adapters.flat.table import Signs, Whole, unit


def test_a_zero_vector_stays_zero() -> None:
    assert unit(np.array([[0, 0], [3, 4]], np.float32)).tolist() == [[0, 0], pytest.approx([0.6, 0.8])]


def test_a_whole_vectors_score_is_its_cosine() -> None:
    whole = Whole(2)
    rows = whole.encode(np.array([[3, 4], [0, -2]], np.float32))
    assert whole.scores(rows, whole.encode(np.array([[0, 5]], np.float32))) == pytest.approx([0.8, -1])


@pytest.mark.parametrize("dimensions", [1, 63, 64, 65, 1030])
def test_signs_count_the_coordinates_that_differ(dimensions: int) -> None:
    signs = Signs(np.zeros(dimensions, np.float32))
    vectors = np.random.default_rng(dimensions).standard_normal((5, dimensions)).astype(np.float32)
    scores = signs.scores(signs.encode(vectors), signs.encode(-vectors[:1]))
    differing = [int(((row > 0) != (-vectors[0] > 0)).sum()) for row in vectors]
    assert scores.tolist() == [-count for count in differing]
    assert differing[0] == dimensions


def test_the_mean_is_taken_off_first() -> None:
    """What all vectors share says nothing: without it these two look the same."""
    vectors = unit(np.array([[1.0, 0.1, -0.1], [1.0, -0.1, 0.1]], np.float32))
    signs = Signs(vectors.mean(axis=0))
    encoded = signs.encode(vectors)
    assert signs.scores(encoded, encoded[:1]).tolist() == [0, -2]
