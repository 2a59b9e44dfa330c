"""Embedder: text to vectors."""

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
    """What a static embedder has besides: its vectors are means of token vectors.

    So a question's tokens can be weighed, and a sentence compared with it, without embedding anything.
    """

    @property
    def token_vectors(self) -> Floats:
        """One row a token."""
        ...

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """The tokens of each text, as row numbers. Takes its time: call it in a thread."""
        ...


@runtime_checkable
class PieceEmbedder(Protocol):
    """What an embedder has besides that is quick and free enough for pieces: a chunk's vector is the mean of theirs."""

    async def embed_pieces(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """One row per piece, in order, float32, unit length. Raises as `Embedder.embed` does."""
        ...

    def similarity(self, vectors: Floats, question: Floats) -> Floats:
        """How near each piece is to a question, 1 at most, by the model's own measure."""
        ...


@runtime_checkable
class Watched(Protocol):
    """What an embedder behind a wire has besides: it remembers how the provider is."""

    def last_known(self) -> Probe:
        """How the last call or probe went, at once; what is old is asked again in the background."""
        ...

    async def watch(self) -> None:
        """Probe a provider that fails until it is back; runs until cancelled."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors of one model."""

    @property
    def model(self) -> EmbeddingModel:
        """Whose vectors these are."""
        ...

    @property
    def max_tokens(self) -> int:
        """The longest input, in cl100k tokens; longer texts are windowed by `services.embed_texts`."""
        ...

    async def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """One row per text, in order, float32, unit length.

        `progress` is called with the number of texts done. Raises EmbedderDown when the provider does not answer in
        time, EmbedderRefused when it will never embed these, KeyRefused when it refuses the key; then nothing
        is returned at all.
        """
        ...

    async def embed_query(self, text: str) -> Floats:
        """The vector to search with, one dimension, unit length. Raises as `embed` does."""
        ...

    async def probe(self) -> Probe:
        """Embed a word, once, without retries, and report the result. Never raises."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
