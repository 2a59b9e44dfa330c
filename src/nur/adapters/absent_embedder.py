"""AbsentEmbedder: takes the place of a model that cannot be called, so that its store can still be opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from nur.domain.embedding import EmbeddingModel, Probe
from nur.domain.errors import KeyRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.ports.embedder import Floats


class AbsentEmbedder:
    """Fails every call, naming the missing setting: searches fall back to lexical, writes are rejected or deferred."""

    max_tokens = 8191

    def __init__(self, model: EmbeddingModel, reason: str) -> None:
        self.model = model
        self._reason = reason

    async def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """Raises KeyRefused."""
        del progress
        self._refuse(len(texts))

    async def embed_query(self, text: str) -> Floats:
        """Raises KeyRefused."""
        del text
        self._refuse(1)

    async def probe(self) -> Probe:
        """Never healthy; names the missing setting."""
        return Probe(False, 0, error=self._reason, key_refused=True)

    async def close(self) -> None:
        """Nothing to do."""

    def _refuse(self, texts: int) -> NoReturn:
        raise KeyRefused(self._reason, failed=texts, total=texts)
