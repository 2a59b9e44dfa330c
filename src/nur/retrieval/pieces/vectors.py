"""Vectors of pieces, and one vector for many.

The vector of a piece is the mean of static token vectors, in one byte per dimension. It costs next to nothing, so every
piece has one whatever model embeds the chunks. A byte per dimension changes a cosine by less than .01, and takes a
quarter of the space. `pool` makes one vector of those of a long text's windows or of a note's chunks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nur.ports.embedder import Floats, TokenTable


CONTEXT_WEIGHT = 0.2
"""What the heading above a piece adds to its vector. 0.4: MRR of everyday −.003."""

LARGEST = 127
#: Texts embedded at once: the token vectors of all of them are in memory together.
SLICE = 256

# Vectors this close to cancelling out leave only rounding errors, whose direction means nothing.
_CANCELLED = 1e-6


def mean_vectors(texts: Sequence[str], table: TokenTable) -> Floats:
    """The mean of each text's token vectors, at unit length; zero for a text without tokens."""
    dimensions = table.token_vectors.shape[1]
    slices = [_means(texts[at : at + SLICE], table) for at in range(0, len(texts), SLICE)]
    return np.concatenate([np.zeros((0, dimensions), np.float32), *slices])


def with_context(own: Floats, context: Floats) -> Floats:
    """The vectors with a share of their context's, at unit length."""
    return _unit(own + np.float32(CONTEXT_WEIGHT) * context)


def quantised(vectors: Floats) -> NDArray[np.int8]:
    """Vectors in one byte per dimension; only their direction is kept."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=1e-9)
    scaled: NDArray[np.int8] = np.rint(vectors * (LARGEST / largest)).astype(np.int8)
    return scaled


def weighted_mean(vectors: Floats, weights: Floats, firsts: NDArray[np.int64]) -> Floats:
    """The weighted mean of each group of vectors, at unit length; groups begin at these places."""
    return _unit(np.add.reduceat(vectors * weights[:, None], firsts, axis=0))


def cosines(vectors: Floats, other: Floats) -> Floats:
    """The cosine of each unit vector with another one, the same whatever vectors stand beside it.

    A matrix product would round a row by its place.
    """
    found: Floats = np.einsum("ij,j->i", vectors, other)
    return found


def decode_vectors(blobs: Sequence[bytes], pieces: int) -> Floats:
    """The vectors of so many pieces, at unit length."""
    stored = np.frombuffer(b"".join(blobs), np.int8).reshape(pieces, -1)
    return _unit(stored.astype(np.float32))


def _means(texts: Sequence[str], table: TokenTable) -> Floats:
    tokens = table.tokenize(texts)
    rows = table.token_vectors[np.concatenate(tokens)]
    sizes = np.array([len(found) for found in tokens])
    sums = np.zeros((len(texts), rows.shape[1]), np.float32)
    filled = sizes > 0
    if filled.any():
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])[filled]
        sums[filled] = np.add.reduceat(rows, starts, axis=0)
    return _unit(sums)


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit


def pool(vectors: npt.ArrayLike, weights: Sequence[float] | None = None) -> Floats:
    """The mean of the rows, at unit length; weigh windows by their tokens.

    Rows that cancel out (or weigh nothing) have no mean direction: then the heaviest row, the first of equals, stands
    for all. ValueError for no rows, numbers that are not finite, or weights that do not fit.
    """
    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"pool needs rows of vectors, not an array of shape {rows.shape}")
    shares = _shares(len(rows), weights)
    if not np.isfinite(rows).all():
        raise ValueError("a vector holds a number that is not finite")
    mean = shares @ rows
    if float(np.linalg.norm(mean)) <= _CANCELLED * float(np.linalg.norm(rows, axis=1).max()):
        mean = rows[int(shares.argmax())]
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length if length else mean, dtype=np.float32)


def _shares(count: int, weights: Sequence[float] | None) -> npt.NDArray[np.float64]:
    """Weights that sum to one, or all zero."""
    if weights is None:
        return np.full(count, 1 / count)
    shares = np.asarray(weights, dtype=np.float64)
    if shares.shape != (count,) or not np.isfinite(shares).all() or (shares < 0).any():
        raise ValueError("pool needs a finite weight of 0 or more for each vector")
    total = float(shares.sum())
    return shares / total if total else shares
