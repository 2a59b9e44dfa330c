"""Embedder: turns texts into vectors. The other Protocols here are optional abilities of an embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.domain.embedding import EmbeddingModel, Probe

Floats: TypeAlias = npt.NDArray[np.float32]


TokenIds: TypeAlias = npt.NDArray[np.int64]


@runtime_checkable
class TokenTable(Protocol):
    """A static embedder, whose vectors are means of token vectors.

    It lets search weight a query's tokens and compare sentences with them without an embedding call.
    """

    @property
    def token_vectors(self) -> Floats:
        """One row per token."""
        ...

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """Return the tokens of each text, as row numbers. Slow: call it in a thread."""
        ...


@runtime_checkable
class PieceEmbedder(Protocol):
    """An embedder fast and cheap enough to embed every piece. A chunk's vector is the mean of its pieces' vectors."""

    async def embed_pieces(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """Return one row per piece, in order, float32, unit length. Raises as `Embedder.embed` does."""
        ...

    def similarity(self, vectors: Floats, question: Floats) -> Floats:
        """Return each piece's similarity to a query, at most 1, by the model's own measure."""
        ...


@runtime_checkable
class Watched(Protocol):
    """A remote embedder that tracks whether its provider is healthy."""

    def last_known(self) -> Probe:
        """Return the result of the last call or probe without waiting; refreshes an old one in the background."""
        ...

    async def watch(self) -> None:
        """Probe a failing provider until it recovers. Runs until cancelled."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors of one model."""

    @property
    def model(self) -> EmbeddingModel:
        """The model that makes the vectors."""
        ...

    @property
    def max_tokens(self) -> int:
        """Maximum input in cl100k tokens; `services.indexing` cuts longer texts into windows."""
        ...

    async def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """Return one row per text, in order, float32, unit length.

        `progress` is called with the number of texts done. Raises EmbedderDown if the provider does not answer in
        time, EmbedderRefused if it will never embed these texts, KeyRefused if it refuses the key. No partial results.
        """
        ...

    async def embed_query(self, text: str) -> Floats:
        """Return a query's vector, one-dimensional, unit length. Raises as `embed` does."""
        ...

    async def probe(self) -> Probe:
        """Embed one word without retries and return how it went. Never raises."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
