"""Find near duplicates of a note: reported, never merged. Makes no embedding call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.domain.filters import NoteFilter
from nur.domain.writes import NearDuplicate
from nur.retrieval.fingerprint import numbers
from nur.retrieval.pieces.vectors import pool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.access import Caller
    from nur.domain.filters import PrivacyFilter
    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.ports.chunks import ChunkStore
    from nur.ports.clock import Clock
    from nur.ports.derivations import FingerprintStore
    from nur.ports.embedder import Embedder, Floats
    from nur.ports.notes import NoteStore
    from nur.ports.vector_index import VectorIndex
    from nur.ports.vectors import VectorStore

#: Chunks of the note that are compared: its beginning, middle and end, not a whole book.
COMPARED_CHUNKS = 8
NEIGHBOURS = 10
#: Candidates by their words. Notes of one form may be nearer by their vectors than a copy in slightly other words.
COPIES = 20
MAX_REPORTED = 5
#: Measured with the local model on 944 generated pairs of short notes. Of 248 edited copies and paraphrases .80 names
#: 84 in 100 (.85: 78, .92: 57); of 524 pairs of other statements, about the same subject or another, none (19 in 20 lie
#: under .2). Statements that differ in a number alone are as near as copies: their numbers must be the same.
MIN_WHOLE = 0.8
#: Measured on 384 pairs of notes of three chunks. Means of long notes about one subject are near each other anyway (19
#: in 20 up to .93), and so are chunks that hold the same form (up to .96). These two name all 128 copies with a few
#: sentences changed or inserted, none of the 192 other pairs, and 22 in 100 of those that share one half.
MIN_CUT = 0.94
MIN_BEST_CHUNK = 0.97


@dataclass(frozen=True, slots=True)
class FindDuplicates:
    """Compares the pooled vector and the chunks of a note with those of other notes."""

    vectors: VectorStore
    notes: NoteStore
    chunks: ChunkStore
    fingerprints: FingerprintStore
    index: VectorIndex
    embedder: Embedder
    privacy: PrivacyFilter
    clock: Clock

    async def __call__(self, note: Note, caller: Caller) -> list[NearDuplicate]:
        """Duplicates that the caller may see, nearest first; none while the note has no vectors. Raises IndexDown."""
        version = self.embedder.model.version
        own, vectors = await self._vectors(note, version)
        if own is None:
            return []
        meta = note.meta
        where = NoteFilter(
            tenant=note.tenant,
            kinds=frozenset({note.kind}),
            project=meta.project,
            agent=meta.agent,
            scope=meta.scope,
        )
        where = self.privacy.visible(where, caller.principal)
        best = await self._best_chunks(note, vectors, where)
        best |= await self._copies(note, vectors, where, known=best)
        pooled = await self.vectors.of_notes(list(best), version)
        notes = await self.notes.by_ids(list(best))
        texts = await self.notes.texts([note.note_id, *(n.note_id for n in notes.values() if not n.is_chunked)])
        near = []
        for other in (notes[note_id] for note_id in best if note_id in pooled and note_id in notes):
            similarity, best_chunk = float(own @ pooled[other.note_id]), best[other.note_id]
            if note.is_chunked or other.is_chunked:
                is_near = similarity >= MIN_CUT and best_chunk >= MIN_BEST_CHUNK
            else:
                is_near = similarity >= MIN_WHOLE and _same_numbers(texts, note.note_id, other.note_id)
            if is_near:
                near.append(NearDuplicate(other.public_id, round(similarity, 4), round(best_chunk, 4)))
        return sorted(near, key=lambda one: (-one.similarity, one.public_id))[:MAX_REPORTED]

    async def _vectors(self, note: Note, version: str) -> tuple[Floats | None, list[Floats]]:
        """The note's pooled vector, None while a chunk has none, and vectors of some of its chunks."""
        keys = [stored.chunk_key for stored in await self.chunks.of_note(note.note_id)]
        existing = await self.vectors.of_chunks(keys, version)
        if not keys or len(existing) < len(keys):
            return None, []
        pooled = (await self.vectors.of_notes([note.note_id], version)).get(note.note_id)
        own = pool([existing[key] for key in keys]) if pooled is None else pooled
        picked = np.linspace(0, len(keys) - 1, min(COMPARED_CHUNKS, len(keys))).round().astype(int)
        return own, [existing[keys[place]] for place in picked]

    async def _copies(
        self, note: Note, vectors: Sequence[Floats], where: NoteFilter, known: Mapping[NoteId, float]
    ) -> dict[NoteId, float]:
        """The same as `_best_chunks`, for notes with nearly the same words that are not known yet."""
        version, best = self.embedder.model.version, {}
        for other in await self.fingerprints.similar(note.note_id, where, self.clock.now(), COPIES):
            if other not in known:
                keys = [stored.chunk_key for stored in await self.chunks.of_note(other)]
                theirs = (await self.vectors.of_chunks(keys, version)).values()
                best[other] = max((float(one @ two) for one in vectors for two in theirs), default=-1.0)
        return best

    async def _best_chunks(self, note: Note, vectors: Sequence[Floats], where: NoteFilter) -> dict[NoteId, float]:
        """For each other note, the highest cosine between its chunks and ours."""
        similarity: dict[ChunkKey, float] = {}
        found: dict[ChunkKey, NoteId] = {}
        for vector in vectors:
            for near in await self.index.query(vector, where, NEIGHBOURS):
                key = near.chunk_key
                similarity[key] = max(similarity.get(key, -1.0), near.similarity)
                found[key] = near.note_id
        best: dict[NoteId, float] = {}
        for key, shown in (await self.chunks.show(found, where, self.clock.now())).items():
            other = shown.note.note_id
            if other != note.note_id:
                best[other] = max(best.get(other, -1.0), similarity[key])
        return best


def _same_numbers(texts: Mapping[NoteId, str], one: NoteId, other: NoteId) -> bool:
    """Whether two texts contain the same numbers; False if one was purged meanwhile."""
    return one in texts and other in texts and numbers(texts[one]) == numbers(texts[other])
