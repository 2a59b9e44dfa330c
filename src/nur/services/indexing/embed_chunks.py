"""Embed chunks: as a whole, or piece by piece where the model is quick enough for that."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nur.ports.embedder import PieceEmbedder
from nur.retrieval.pieces.vectors import quantised, weighted_mean
from nur.services.indexing.embed_texts import embed_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.ports.embedder import Embedder, Floats


class ChunkTexts(NamedTuple):
    """What is embedded of a chunk."""

    searchable: str
    pieces: Sequence[str]  #: none for a chunk that waits to be analysed again


class EmbeddedChunk(NamedTuple):
    """The vectors of a chunk."""

    vector: Floats
    pieces: bytes = b""  #: vectors of its pieces, one byte per dimension; empty for a model that embeds chunks alone


async def embed_chunks(
    embedder: Embedder, chunks: Sequence[ChunkTexts], progress: Callable[[int], None] | None = None
) -> list[EmbeddedChunk]:
    """The vectors of each chunk, in order; `progress` is called with the number of chunks done.

    Raises as `Embedder.embed` does; then there is no vector at all.
    """
    if not isinstance(embedder, PieceEmbedder):
        vectors = await embed_texts(embedder, [one.searchable for one in chunks], progress)
        return [EmbeddedChunk(vector) for vector in vectors]
    texts = [list(one.pieces) or [one.searchable] for one in chunks]
    edges = np.cumsum([len(of_chunk) for of_chunk in texts])
    report = (lambda done: progress(int(np.searchsorted(edges, done, "right")))) if progress else None
    found = await embedder.embed_pieces([text for of_chunk in texts for text in of_chunk], report)
    return [
        EmbeddedChunk(_mean(vectors, of_chunk), quantised(vectors).tobytes() if one.pieces else b"")
        for one, of_chunk, vectors in zip(chunks, texts, np.split(found, edges[:-1]), strict=True)
    ]


def _mean(vectors: Floats, texts: Sequence[str]) -> Floats:
    """The chunk's vector: the mean of its pieces', each by its length."""
    lengths = np.array([len(text) for text in texts], np.float32)
    whole: Floats = weighted_mean(vectors, lengths, np.zeros(1, np.int64))[0]
    return whole if whole.any() else vectors[0]
