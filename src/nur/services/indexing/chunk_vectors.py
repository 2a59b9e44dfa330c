"""The vectors of a note's chunks when it is written: known ones, else embedded now, else left to the worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.errors import EmbedderDown, KeyRefused
from nur.domain.notes import Status
from nur.domain.writes import OnEmbeddingFailure
from nur.observability.events import EventLog
from nur.ports.embedder import PieceEmbedder
from nur.retrieval.pooling import pool
from nur.services.indexing.embed_chunks import ChunkTexts, EmbeddedChunk, embed_chunks

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.domain.notes import Note
    from nur.ports.chunks import ChunkStore
    from nur.ports.embedder import Embedder, Floats
    from nur.ports.vectors import VectorStore
    from nur.services.indexing.chunk_text import ChunkedText

log = EventLog("StorageService")


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """Embeds what is not known, and decides what a failure means for the write."""

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
        """The vectors of each chunk, None for one that is deferred; what is embedded becomes known.

        Raises EmbedderDown and KeyRefused where a failure is to be rejected.
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

        None of a model that embeds pieces: they may begin or end elsewhere now, and embedding them again is free.
        """
        if existing is None or existing.status is not Status.ACTIVE or isinstance(self.embedder, PieceEmbedder):
            return {}
        chunks = await self.chunks.of_note(existing.note_id)
        vectors = await self.vectors.of_chunks([c.chunk_key for c in chunks], self.version)
        return {c.chunk.searchable: EmbeddedChunk(vectors[c.chunk_key]) for c in chunks if c.chunk_key in vectors}


def pooled(vectors: list[EmbeddedChunk | None]) -> Floats | None:
    """The note's pooled vector, once every chunk has one."""
    present = [one.vector for one in vectors if one is not None]
    return pool(present) if len(present) == len(vectors) else None
