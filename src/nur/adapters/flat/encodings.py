"""How a vector is kept in memory: whole, or as the signs of its coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from nur.ports.embedder import Floats

Rows: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.uint64]
Scores: TypeAlias = npt.NDArray[np.float32]

_WORD_BITS = 64


def unit(vectors: Floats) -> Floats:
    """Rows of length one, so that a dot product is a cosine; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


class Encoding(Protocol):
    """One way of keeping vectors."""

    @property
    def exact(self) -> bool:
        """Whether a score is the cosine itself; else it only orders candidates."""
        ...

    def empty(self, rows: int) -> Rows:
        """Room for that many vectors."""
        ...

    def encode(self, vectors: Floats) -> Rows:
        """Vectors as they are kept, a row each."""
        ...

    def scores(self, rows: Rows, query: Rows) -> Scores:
        """How near each row is to an encoded query; higher is nearer."""
        ...


class Whole:
    """float32 coordinates: the score is the cosine."""

    exact = True

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions

    def empty(self, rows: int) -> Rows:
        """Room for that many vectors."""
        return np.zeros((rows, self._dimensions), np.float32)

    def encode(self, vectors: Floats) -> Rows:
        """Unit vectors."""
        return unit(vectors)

    def scores(self, rows: Rows, query: Rows) -> Scores:
        """The cosines: one matrix-vector product."""
        return np.asarray(rows @ query[0], np.float32)


class Signs:
    """One bit a coordinate: whether it lies above the store's mean.

    Real models' vectors share a direction; with it taken off, the bits tell texts apart (recall .994 of 200 candidates
    against .973 with it).
    """

    exact = False

    def __init__(self, mean: Floats) -> None:
        self._mean = mean
        self._words = -(-len(mean) // _WORD_BITS)

    def empty(self, rows: int) -> Rows:
        """Room for that many vectors."""
        return np.zeros((rows, self._words), np.uint64)

    def encode(self, vectors: Floats) -> Rows:
        """Sign bits in words; the last word is filled up with zeros, which are equal everywhere."""
        packed = np.packbits(unit(vectors) > self._mean, axis=1)
        padded = np.zeros((len(packed), self._words * _WORD_BITS // 8), np.uint8)
        padded[:, : packed.shape[1]] = packed
        return padded.view(np.uint64)

    def scores(self, rows: Rows, query: Rows) -> Scores:
        """Minus the number of signs that differ."""
        differing = np.bitwise_count(rows.view(np.uint64) ^ query[0].view(np.uint64))
        return np.asarray(-differing.sum(axis=1, dtype=np.uint16).astype(np.float32))
