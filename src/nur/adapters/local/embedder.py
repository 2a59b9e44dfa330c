"""LocalEmbedder: static vectors on this machine; fast enough that nothing waits for them."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from nur.adapters.local.static_model import DIMENSIONS, NAME, StaticModel
from nur.adapters.threaded_embedder import ThreadedEmbedder
from nur.domain.embedding import EmbeddingModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.adapters.local.static_model import TokenIds
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats

#: Texts embedded in one go.
SLICE = 64


class PackagedTokens:
    """The token vectors of the static model that ships with the package, read on first use."""

    def __init__(self) -> None:
        self._loading = Lock()
        self._loaded: StaticModel | None = None

    @property
    def model(self) -> StaticModel:
        """The model itself."""
        with self._loading:
            if self._loaded is None:
                self._loaded = StaticModel.from_package()
            return self._loaded

    @property
    def token_vectors(self) -> Floats:
        """One row a token, as trained: not of unit length."""
        return self.model.matrix

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """The tokens of each text, as row numbers of `token_vectors`. Takes its time: call it in a thread."""
        return self.model.token_ids(texts)


class LocalEmbedder(ThreadedEmbedder):
    """Vectors of the static model that ships with the package, read on first use.

    A text without tokens has a fixed vector (`StaticModel.nowhere`): no vector is ever zero or NaN.
    """

    def __init__(self, *, threads: int = 2, clock: Clock | None = None) -> None:
        super().__init__(SLICE, threads=threads, clock=clock)
        self.model = EmbeddingModel("local", NAME, DIMENSIONS)
        self.max_tokens = 8191  # a mean has no limit of its own; the windows of other models keep means comparable
        self.tokens = PackagedTokens()

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """The tokens of each text, as row numbers of `token_vectors`. Takes its time: call it in a thread."""
        return self.tokens.tokenize(texts)

    @property
    def token_vectors(self) -> Floats:
        """One row a token, as trained: not of unit length."""
        return self.tokens.token_vectors

    def _vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        static = self.tokens.model
        ids = static.token_ids(texts)
        return np.stack([static.pooled(of_text) for of_text in ids]), sum(len(of_text) for of_text in ids)
