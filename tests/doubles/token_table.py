"""Token vectors without a model: each word is a token, with a pseudo-random vector derived from its letters."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.ports.embedder import Floats, TokenIds

ROWS, DIMENSIONS = 4096, 256


class HashedTokens:
    """Every word has a row; rows of different words are nearly orthogonal."""

    def __init__(self) -> None:
        drawn = np.random.default_rng(0).standard_normal((ROWS, DIMENSIONS))
        self._rows: Floats = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)

    @property
    def token_vectors(self) -> Floats:
        """One row per token."""
        return self._rows

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """The words of each text, lower-case, without marks."""
        words = [[word.strip(".,:;!?#|").lower() for word in text.split()] for text in texts]
        return [np.array([crc32(word.encode()) % ROWS for word in found if word], np.int64) for found in words]
