"""InMemoryEmbedder: hashed bags of words, so that texts with words in common are near each other."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from nur.domain.embedding import EmbeddingModel, Probe
from nur.domain.errors import EmbedderDown, EmbedderRefused, NurError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nur.ports.embedder import Floats

_WORD = re.compile(r"\w+")


def hashed_words(text: str, dimensions: int) -> Floats:
    """A unit vector, the same in every process: each word adds 1 or -1 at its own position."""
    words = _WORD.findall(text.casefold())
    vector = np.zeros(dimensions, np.float32)
    for word in words:
        place, sign = _place(word, dimensions)
        vector[place] += sign
    if not vector.any():  # no words, or words that cancel out: hash the whole text instead
        vector[_place(text, dimensions)[0]] = 1.0
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def _place(word: str, dimensions: int) -> tuple[int, float]:
    number = int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    return (number >> 1) % dimensions, 1.0 if number & 1 else -1.0


class InMemoryEmbedder:
    """An embedder without dependencies. Set `down` or `refuse` to make it fail; `embedded` counts embedded texts."""

    def __init__(self, dimensions: int = 64) -> None:
        self.model = EmbeddingModel("in_memory", "hashed-words", dimensions)
        self.max_tokens = 8191
        self.down = False
        self.refuse = False
        self.embedded = 0

    async def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """One unit vector per text, in order."""
        self._answer_for(len(texts))
        vectors = np.empty((len(texts), self.model.dimensions), np.float32)
        for place, text in enumerate(texts):
            vectors[place] = hashed_words(text, self.model.dimensions)
        self.embedded += len(texts)
        if progress and texts:
            progress(len(texts))
        return vectors

    async def embed_query(self, text: str) -> Floats:
        """The vector of a stored text; not counted."""
        self._answer_for(1)
        return hashed_words(text, self.model.dimensions)

    async def probe(self) -> Probe:
        """Healthy, unless set to fail."""
        try:
            self._answer_for(1)
        except NurError as error:
            return Probe(False, 0, error=str(error))
        return Probe(True, 0, self.model.dimensions)

    async def close(self) -> None:
        """Nothing to do."""

    def _answer_for(self, texts: int) -> None:
        if self.refuse:
            raise EmbedderRefused("Invalid text for embedding: told to refuse", failed=texts, total=texts)
        if self.down:
            raise EmbedderDown("The embedding provider is down.", failed=texts, total=texts)


class InMemoryPieceEmbedder(InMemoryEmbedder):
    """An embedder of pieces that maps synonyms to one vector."""

    def __init__(self, synonyms: Mapping[str, str], dimensions: int = 64) -> None:
        super().__init__(dimensions)
        self.model = EmbeddingModel("in_memory", "pieces", dimensions)
        self._synonyms = synonyms

    async def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """One unit vector per text, in order."""
        return await super().embed([self._plain(text) for text in texts], progress)

    async def embed_query(self, text: str) -> Floats:
        """The vector of a stored text; not counted."""
        return await super().embed_query(self._plain(text))

    async def embed_pieces(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """One unit vector per piece."""
        return await self.embed(texts, progress)

    def similarity(self, vectors: Floats, question: Floats) -> Floats:
        """Cosines."""
        found: Floats = vectors @ question
        return found

    def _plain(self, text: str) -> str:
        return " ".join(self._synonyms.get(word, word) for word in _WORD.findall(text.casefold()))
