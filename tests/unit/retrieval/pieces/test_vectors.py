"""Vectors of pieces, compared with their definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.retrieval.pieces.vectors import (
    CONTEXT_WEIGHT,
    add_context,
    cosines,
    decode_vectors,
    mean_vectors,
    quantised,
    weighted_mean,
)
from tests.candidates import TOKENS

if TYPE_CHECKING:
    from nur.ports.embedder import Floats


def unit(vector: Floats) -> Floats:
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def test_a_text_is_the_mean_of_its_tokens_whatever_stands_beside_it() -> None:
    texts = ["tea milk", "", "tea", *["water"] * 300, "tea milk"]
    found = mean_vectors(texts, TOKENS)
    assert found.shape == (len(texts), TOKENS.token_vectors.shape[1])
    assert not found[1].any()
    rows = TOKENS.token_vectors[TOKENS.tokenize(["tea milk"])[0]]
    assert found[0] == pytest.approx(unit(rows.sum(axis=0)), abs=1e-6)
    assert (found[0] == found[-1]).all()
    assert mean_vectors([], TOKENS).shape == (0, TOKENS.token_vectors.shape[1])


def test_a_heading_adds_its_share() -> None:
    own, heading = np.array([[1.0, 0.0]], np.float32), np.array([[0.0, 1.0]], np.float32)
    assert add_context(own, heading)[0] == pytest.approx(unit(np.array([1.0, CONTEXT_WEIGHT], np.float32)), abs=1e-6)


def test_bytes_keep_the_direction() -> None:
    vectors = np.array([[0.2, -0.4, 0.1], [0.0, 0.0, 0.0]], np.float32)
    stored = quantised(vectors)
    assert stored.tolist() == [[64, -127, 32], [0, 0, 0]]
    decoded = decode_vectors([stored.tobytes()], 2)
    assert decoded[0] == pytest.approx(unit(vectors[0]), abs=0.01)
    assert not decoded[1].any()


def test_a_chunks_vector_is_the_mean_of_its_pieces_by_their_weights() -> None:
    vectors = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
    found = weighted_mean(vectors, np.array([3, 4, 2], np.float32), np.array([0, 2]))
    assert found[0] == pytest.approx([0.6, 0.8])
    assert found[1] == pytest.approx(unit(np.array([1.0, 1.0], np.float32)))
    assert cosines(found, np.array([1, 0], np.float32)) == pytest.approx([0.6, 0.5**0.5])
