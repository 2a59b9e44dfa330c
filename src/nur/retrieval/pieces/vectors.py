"""Vectors of pieces, and the mean of several vectors.

A piece's vector is the mean of static token vectors, at one byte per dimension. It costs next to nothing, so every
piece has one, whatever model embeds the chunks. One byte per dimension takes a quarter of the space and changes a
cosine by less than .01. `pool` combines the vectors of a long text's windows, or of a note's chunks.
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
"""Weight of the heading's vector in a piece's. 0.4: everyday MRR −.003."""

MAX_VALUE = 127
"""Largest absolute value of a quantised dimension."""

# Mean shorter than this part of the longest vector: only rounding errors are left, and their direction means nothing.
_CANCELLED = 1e-6


def mean_vectors(texts: Sequence[str], table: TokenTable) -> Floats:
    """The mean of each text's token vectors, at unit length; zero for a text without tokens."""
    # Text by text: reduceat over the tokens of all texts takes three times as long.
    sums = [table.token_vectors[ids].sum(axis=0, dtype=np.float32) for ids in table.tokenize(texts)]
    return _unit(np.array(sums, np.float32).reshape(len(texts), table.token_vectors.shape[1]))


def add_context(vectors: Floats, context: Floats) -> Floats:
    """The vectors with a share of their contexts' vectors added, at unit length."""
    return _unit(vectors + np.float32(CONTEXT_WEIGHT) * context)


def quantised(vectors: Floats) -> NDArray[np.int8]:
    """The vectors at one byte per dimension; their lengths are lost."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=1e-9)
    scaled: NDArray[np.int8] = np.rint(vectors * (MAX_VALUE / largest)).astype(np.int8)
    return scaled


def weighted_mean(vectors: Floats, weights: Floats, firsts: NDArray[np.int64]) -> Floats:
    """The weighted mean of each group of vectors, at unit length; `firsts` are the rows where groups begin."""
    return _unit(np.add.reduceat(vectors * weights[:, None], firsts, axis=0))


def cosines(vectors: Floats, other: Floats) -> Floats:
    """The cosine of each unit vector with another one, independent of the other rows.

    A matrix product would round a row differently depending on its position.
    """
    result: Floats = np.einsum("ij,j->i", vectors, other)
    return result


def decode_vectors(blobs: Sequence[bytes], pieces: int) -> Floats:
    """The stored vectors of `pieces` pieces, at unit length."""
    stored = np.frombuffer(b"".join(blobs), np.int8).reshape(pieces, -1)
    return _unit(stored.astype(np.float32))


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit


def pool(vectors: npt.ArrayLike, weights: Sequence[float] | None = None) -> Floats:
    """The weighted mean of the rows, at unit length; windows are weighted by their tokens.

    If the rows cancel out (or all weights are 0), the heaviest row is returned, the first of equals. Raises ValueError
    for no rows, numbers that are not finite, or weights that do not fit.
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
