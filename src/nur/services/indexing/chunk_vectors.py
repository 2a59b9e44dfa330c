"""The vectors of a note's chunks when it is written: reused, embedded now, or left to the worker.

A chunk is embedded as a whole, or piece by piece where the model is quick enough for that. A text that is longer than
the model's input becomes the mean of its windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nur.domain.errors import EmbedderDown, KeyRefused
from nur.domain.notes import Status
from nur.domain.writes import OnEmbeddingFailure
from nur.observability.events import EventLog
from nur.ports.embedder import PieceEmbedder
from nur.retrieval.chunking import ChunkingPolicy, chunk
from nur.retrieval.pieces.vectors import pool, quantised, weighted_mean
from nur.retrieval.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.domain.notes import Note
    from nur.ports.chunks import ChunkStore
    from nur.ports.embedder import Embedder, Floats
    from nur.ports.vectors import VectorStore
    from nur.services.indexing.chunk_text import ChunkedText

log = EventLog("StorageService")


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


class ChunkTexts(NamedTuple):
    """The texts of a chunk to embed."""

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


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """Embeds chunks without a known vector, and decides what a failure means for the write."""

    chunks: ChunkStore
    vectors: VectorStore
    embedder: Embedder

    @property
    def version(self) -> str:
        """Embedding version of these vectors."""
        return self.embedder.model.version

    async def of(
        self,
        chunked: ChunkedText,
        known: dict[str, EmbeddedChunk],
        on_failure: OnEmbeddingFailure,
        progress: Callable[[int, int], None] | None,
    ) -> list[EmbeddedChunk | None]:
        """The vectors of each chunk, None for a deferred one; adds new vectors to `known`.

        Raises EmbedderDown and KeyRefused if failures are to be rejected.
        """
        if on_failure is OnEmbeddingFailure.LATER:
            return [known.get(piece.searchable) for piece in chunked.chunks]
        missing = [one for one in chunked.analysed if one.chunk.searchable not in known]
        done = len(chunked.chunks) - len(missing)
        report = (lambda count: progress(done + count, len(chunked.chunks))) if progress else None
        texts = [ChunkTexts(one.chunk.searchable, one.pieces.texts) for one in missing]
        try:
            found = await embed_chunks(self.embedder, texts, report)
        except (EmbedderDown, KeyRefused) as error:
            if on_failure is OnEmbeddingFailure.REJECT:
                failed, total = error.failed, len(chunked.chunks)
                log.error("two_phase_write_aborted", failed=failed, total=total, error=error.code)  # noqa: TRY400
                raise
            log.warning("embedding_deferred", chunks=len(missing), error=error.code)
            return [known.get(piece.searchable) for piece in chunked.chunks]
        known |= {one.chunk.searchable: vectors for one, vectors in zip(missing, found, strict=True)}
        return [known[piece.searchable] for piece in chunked.chunks]

    async def known(self, existing: Note | None) -> dict[str, EmbeddedChunk]:
        """Vectors of the note's current chunks, keyed by the embedded text (heading context included).

        None for a model that embeds pieces: their boundaries may have moved, and embedding them again is free.
        """
        if existing is None or existing.status is not Status.ACTIVE or isinstance(self.embedder, PieceEmbedder):
            return {}
        chunks = await self.chunks.of_note(existing.note_id)
        vectors = await self.vectors.of_chunks([c.chunk_key for c in chunks], self.version)
        return {c.chunk.searchable: EmbeddedChunk(vectors[c.chunk_key]) for c in chunks if c.chunk_key in vectors}


def pooled(vectors: list[EmbeddedChunk | None]) -> Floats | None:
    """The note's pooled vector; None while a chunk has none."""
    present = [one.vector for one in vectors if one is not None]
    return pool(present) if len(present) == len(vectors) else None
