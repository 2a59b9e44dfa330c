"""One vector for many: long texts embedded in windows, and notes of several chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats: TypeAlias = npt.NDArray[np.float32]

# Vectors this close to cancelling out leave only rounding errors, whose direction means nothing.
_CANCELLED = 1e-6


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
