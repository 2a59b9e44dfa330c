"""The vectors of a note's chunks when it is written: known ones, else embedded now, else left to the worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.errors import EmbedderDown, KeyRefused
from nur.domain.notes import Status
from nur.domain.writes import OnEmbeddingFailure
from nur.observability.events import EventLog
from nur.retrieval.pooling import pool
from nur.services.indexing.embed_texts import embed_texts

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
        known: dict[str, Floats],
        on_failure: OnEmbeddingFailure,
        progress: Callable[[int, int], None] | None,
    ) -> list[Floats | None]:
        """One vector per chunk, None for one that is deferred; what is embedded becomes known.

        Raises EmbedderDown and KeyRefused where a failure is to be rejected.
        """
        if on_failure is OnEmbeddingFailure.LATER:
            return [known.get(piece.searchable) for piece in chunked.chunks]
        missing = [piece for piece in chunked.chunks if piece.searchable not in known]
        done = len(chunked.chunks) - len(missing)
        report = (lambda count: progress(done + count, len(chunked.chunks))) if progress else None
        try:
            found = await embed_texts(self.embedder, [piece.searchable for piece in missing], report)
        except (EmbedderDown, KeyRefused) as error:
            if on_failure is OnEmbeddingFailure.REJECT:
                failed, total = error.failed, len(chunked.chunks)
                log.error("two_phase_write_aborted", failed=failed, total=total, error=error.code)  # noqa: TRY400
                raise
            log.warning("embedding_deferred", chunks=len(missing), error=error.code)
            return [known.get(piece.searchable) for piece in chunked.chunks]
        known |= {piece.searchable: vector for piece, vector in zip(missing, found, strict=True)}
        return [known[piece.searchable] for piece in chunked.chunks]

    async def known(self, existing: Note | None) -> dict[str, Floats]:
        """Vectors of the note's current chunks, keyed by the embedded text (heading context included)."""
        if existing is None or existing.status is not Status.ACTIVE:
            return {}
        chunks = await self.chunks.of_note(existing.note_id)
        vectors = await self.vectors.of_chunks([c.chunk_key for c in chunks], self.version)
        return {c.chunk.searchable: vectors[c.chunk_key] for c in chunks if c.chunk_key in vectors}


def pooled(vectors: list[Floats | None]) -> Floats | None:
    """The note's pooled vector, once every chunk has one."""
    present = [vector for vector in vectors if vector is not None]
    return pool(present) if len(present) == len(vectors) else None
