"""OnnxEmbedder: a sentence-transformers model that runs here, from a folder that the user names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nur.adapters.onnx.sentence_model import sentence_model
from nur.adapters.threaded_embedder import ThreadedEmbedder
from nur.domain.embedding import EmbeddingModel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats

PROVIDER = "onnx"
#: Texts in one run: padding to the longest wastes little.
BATCH = 8
#: A model's own tokens are shorter than cl100k's, most of all in other scripts; what still does not fit is cut off.
SHARE_THAT_FITS = 0.75


class OnnxEmbedder(ThreadedEmbedder):
    """Vectors of a transformer; questions and stored texts get the instructions that the model was trained with."""

    def __init__(self, folder: Path, *, clock: Clock | None = None) -> None:
        """Loads the model. Raises BadConfiguration when the folder holds none."""
        super().__init__(BATCH, threads=1, clock=clock)
        self._sentences = sentence_model(folder)
        self.model = EmbeddingModel(PROVIDER, self._sentences.name, self._sentences.dimensions)
        self.max_tokens = int(SHARE_THAT_FITS * self._sentences.max_tokens)

    async def embed_query(self, text: str) -> Floats:
        """The vector to search with."""
        started, asked = self._clock.monotonic(), [self._sentences.query_prompt + text]
        self._requested(asked)
        vectors, tokens = await self._in_thread(partial(self._sentences.vectors, asked))
        self._account(asked, tokens, self._clock.monotonic() - started)
        vector: Floats = vectors[0]
        return vector

    def _vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        return self._sentences.vectors([self._sentences.document_prompt + text for text in texts])
