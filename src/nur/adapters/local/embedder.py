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

    from nur.adapters.local.llama_tokens import TokenIds
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats

#: Texts embedded in one go.
SLICE = 64


class LocalEmbedder(ThreadedEmbedder):
    """Vectors of the static model that ships with the package, read on first use.

    A text without tokens has a fixed vector (`StaticModel.nowhere`): no vector is ever zero or NaN.
    """

    def __init__(self, *, threads: int = 2, clock: Clock | None = None) -> None:
        super().__init__(SLICE, threads=threads, clock=clock)
        self.model = EmbeddingModel("local", NAME, DIMENSIONS)
        self.max_tokens = 8191  # a mean has no limit of its own; the windows of other models keep means comparable
        self._loading = Lock()
        self._loaded: StaticModel | None = None

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """The tokens of each text, as row numbers of `token_vectors`. Takes its time: call it in a thread."""
        return self._static().token_ids(texts)

    @property
    def token_vectors(self) -> Floats:
        """One row a token, as trained: not of unit length."""
        return self._static().matrix

    def _vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        static = self._static()
        ids = static.token_ids(texts)
        return np.stack([static.pooled(of_text) for of_text in ids]), sum(len(of_text) for of_text in ids)

    def _static(self) -> StaticModel:
        with self._loading:
            if self._loaded is None:
                self._loaded = StaticModel.from_package()
            return self._loaded
