"""Embed texts of any length: what is longer than the model's input becomes the mean of its windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nur.retrieval.chunking import ChunkingPolicy, chunk
from nur.retrieval.pooling import pool
from nur.retrieval.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.ports.embedder import Embedder, Floats


async def embed_texts(
    embedder: Embedder, texts: Sequence[str], progress: Callable[[int], None] | None = None
) -> Floats:
    """One unit vector per text, in order. Raises as `Embedder.embed` does; then there is no vector at all."""
    windows = [_windows(text, embedder.max_tokens) for text in texts]
    vectors = await embedder.embed([window for group in windows for window in group], progress)
    if len(vectors) == len(texts):
        return vectors
    bounds = np.cumsum([len(group) for group in windows])[:-1]
    return np.stack([pool(rows) for rows in np.split(vectors, bounds)])


def _windows(text: str, max_tokens: int) -> list[str]:
    """The text, or its windows where it is longer than the model takes."""
    if len(text.encode()) <= max_tokens or tokens.count(text) <= max_tokens:  # a token is a byte at least
        return [text]
    policy = ChunkingPolicy("window", whole_max=max_tokens, target=max_tokens, overlap=0)
    return [piece.content for piece in chunk(text, policy)]
