"""Embed chunks that have no vector yet, each once; vectors are stored as soon as they are made."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.errors import Conflict, EmbedderDown, EmbedderRefused, NurError
from nur.ports.embedder import PieceEmbedder
from nur.retrieval.pieces.stored import piece_texts
from nur.retrieval.pieces.vectors import pool
from nur.services.indexing.chunk_vectors import ChunkTexts, embed_chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nur.domain.chunks import StoredChunk
    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.ports.chunks import ChunkStore
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.ports.vectors import VectorStore
    from nur.services.indexing.chunk_vectors import EmbeddedChunk

#: Most texts per call, of any notes: an interruption loses no more than these, and calls stay within the provider's
#: deadline.
TEXTS_PER_CALL = 128


@dataclass(frozen=True, slots=True)
class EmbedMissing:
    """Embeds the chunks of notes with one model; chunks of many notes share a call."""

    chunks: ChunkStore
    vectors: VectorStore
    clock: Clock
    embedder: Embedder

    async def __call__(self, notes: Sequence[Note]) -> dict[NoteId, NurError]:
        """Embed what is missing; returns the error of each note that still lacks a vector."""
        version = self.embedder.model.version
        missing = await asyncio.gather(*(self.vectors.missing(note.note_id, version) for note in notes))
        wanted = [(note, stored) for note, chunks in zip(notes, missing, strict=True) for stored in chunks]
        failed: dict[NoteId, NurError] = {}
        for start in range(0, len(wanted), TEXTS_PER_CALL):
            batch = [pair for pair in wanted[start : start + TEXTS_PER_CALL] if pair[0].note_id not in failed]
            down = _provider_down(failed.values())
            if down is None:
                await self._embed(batch, failed)
            else:
                failed.update((note.note_id, down) for note, _ in batch)
        complete = [note for note in notes if note.note_id not in failed]
        await self._pool(complete, failed)
        return failed

    async def _embed(self, wanted: Sequence[tuple[Note, StoredChunk]], failed: dict[NoteId, NurError]) -> None:
        """One call for all; if the provider refuses it, one per note, so that only the cause fails."""
        if not wanted:
            return
        by_note: dict[NoteId, list[tuple[Note, StoredChunk]]] = {}
        for note, stored in wanted:
            by_note.setdefault(note.note_id, []).append((note, stored))
        try:
            vectors = await embed_chunks(self.embedder, [self._texts(stored) for _, stored in wanted])
        except EmbedderRefused as error:
            if len(by_note) == 1:
                failed[wanted[0][0].note_id] = error
                return
            for group in by_note.values():
                await self._embed(group, failed)
            return
        except NurError as error:
            failed.update(dict.fromkeys(by_note, error))
            return
        found = {stored.chunk_key: vector for (_, stored), vector in zip(wanted, vectors, strict=True)}
        for group in by_note.values():
            await self._keep(group[0][0], {stored.chunk_key: found[stored.chunk_key] for _, stored in group}, failed)

    def _texts(self, stored: StoredChunk) -> ChunkTexts:
        is_cut = isinstance(self.embedder, PieceEmbedder) and stored.pieces
        return ChunkTexts(stored.chunk.searchable, piece_texts(stored.pieces, stored.note_text) if is_cut else ())

    async def _keep(self, note: Note, found: dict[ChunkKey, EmbeddedChunk], failed: dict[NoteId, NurError]) -> None:
        try:
            await self.vectors.attach(
                note,
                {key: one.vector for key, one in found.items()},
                None,
                self.embedder.model.version,
                self.clock.now(),
                pieces={key: one.pieces for key, one in found.items()},
            )
        except Conflict as error:  # the text has changed meanwhile
            failed[note.note_id] = error

    async def _pool(self, notes: Sequence[Note], failed: dict[NoteId, NurError]) -> None:
        """Store the notes' pooled vectors: normalised means of their chunks'."""
        version = self.embedder.model.version
        there = await self.vectors.of_notes([note.note_id for note in notes], version)
        for note in notes:
            if note.note_id in there:
                continue
            keys = [stored.chunk_key for stored in await self.chunks.of_note(note.note_id)]
            vectors = await self.vectors.of_chunks(keys, version)
            if not keys or len(vectors) < len(keys):
                continue
            try:
                pooled = pool([vectors[key] for key in keys])
                await self.vectors.attach(note, {}, pooled, version, self.clock.now())
            except Conflict as error:
                failed[note.note_id] = error


def _provider_down(errors: Iterable[NurError]) -> EmbedderDown | None:
    """An error that every further call would get, too."""
    found = (error for error in errors if isinstance(error, EmbedderDown) and not isinstance(error, EmbedderRefused))
    return next(found, None)
