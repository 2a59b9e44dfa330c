"""Find near duplicates of a note: told, never merged. Makes no embedding call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.domain.selection import Selection
from nur.domain.writes import NearDuplicate
from nur.retrieval.pooling import pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.ports.embedder import Embedder, Floats
    from nur.ports.ledger import Candidate, Ledger
    from nur.ports.vector_index import VectorIndex

#: Chunks of the note that are compared: its beginning, middle and end, not a whole book.
COMPARED_CHUNKS = 8
NEIGHBOURS = 10
MOST_REPORTED = 5
#: The whole says nearly the same. Mean vectors of long notes about one subject are near each other anyway, so a chunk
#: of one must also be near a chunk of the other.
LEAST_SIMILARITY = 0.9
LEAST_BEST_CHUNK = 0.92


@dataclass(frozen=True, slots=True)
class FindDuplicates:
    """Compares a note's own vector and its chunks with those of other notes."""

    ledger: Ledger
    index: VectorIndex
    embedder: Embedder

    async def __call__(self, note: Note) -> list[NearDuplicate]:
        """The nearest first; none while the note has no vectors yet. Raises IndexDown."""
        version = self.embedder.model.version
        own, vectors = await self._vectors(note, version)
        if own is None:
            return []
        about = note.about
        selection = Selection(
            tenant=note.tenant,
            kinds=frozenset({note.kind}),
            project=about.project,
            agent=about.agent,
            scope=about.scope,
        )
        best = await self._best_chunks(note, vectors, selection)
        pooled = await self.ledger.pooled(list(best), version)
        notes = await self.ledger.by_ids(list(best))
        found = [
            NearDuplicate(notes[other].public_id, round(float(own @ pooled[other]), 4), round(similarity, 4))
            for other, similarity in best.items()
            if other in pooled and other in notes
        ]
        near = [one for one in found if one.similarity >= LEAST_SIMILARITY and one.best_chunk >= LEAST_BEST_CHUNK]
        return sorted(near, key=lambda one: (-one.similarity, one.public_id))[:MOST_REPORTED]

    async def _vectors(self, note: Note, version: str) -> tuple[Floats | None, list[Floats]]:
        """The note's own vector, None as long as a chunk has none, and those of some of its chunks."""
        keys = [stored.chunk_key for stored in await self.ledger.chunks(note.note_id)]
        held = await self.ledger.vectors(keys, version)
        if not keys or len(held) < len(keys):
            return None, []
        pooled = (await self.ledger.pooled([note.note_id], version)).get(note.note_id)
        own = pool([held[key] for key in keys]) if pooled is None else pooled
        picked = np.linspace(0, len(keys) - 1, min(COMPARED_CHUNKS, len(keys))).round().astype(int)
        return own, [held[keys[place]] for place in picked]

    async def _best_chunks(self, note: Note, vectors: Sequence[Floats], selection: Selection) -> dict[NoteId, float]:
        """By other note, the highest cosine of one of its chunks with one of ours."""
        similarity: dict[ChunkKey, float] = {}
        for vector in vectors:
            for near in await self.index.query(vector, selection, NEIGHBOURS):
                key = near.chunk_key
                similarity[key] = max(similarity.get(key, -1.0), near.similarity)
        best: dict[NoteId, float] = {}
        found: Sequence[Candidate] = await self.ledger.candidates(list(similarity), selection)
        for candidate in found:
            other = candidate.note.note_id
            if other != note.note_id:
                best[other] = max(best.get(other, -1.0), similarity[candidate.stored.chunk_key])
        return best
