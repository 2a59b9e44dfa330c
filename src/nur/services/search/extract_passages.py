"""Quote: of each hit the passages that answer, with their places in the note's text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.chunks import chunk_public_id
from nur.domain.search import Hit, Passage
from nur.retrieval.passages.extract import extract
from nur.retrieval.passages.neighbours import answering, expand_chunk, room_for_context
from nur.retrieval.passages.sentence_maps import SentenceMap
from nur.retrieval.passages.sentence_scores import ScoredChunk
from nur.retrieval.ranking.term_vectors import TermVector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import ChunkKey, NoteId
    from nur.domain.search import SearchRequest
    from nur.ports.ledger import ChunkWithNote, Ledger
    from nur.retrieval.ranking.duplicates import HitGroup
    from nur.retrieval.ranking.rank import Ranked
    from nur.services.search.retrieve import Candidates

#: Chunks whose sentences are looked at: of twenty, more sentences are like the question by chance.
PASSAGE_CHUNKS = 10
#: A note up to this long is shown whole: cutting it saves nothing and loses its context.
SHORT_NOTE = 500
#: What is shown of a hit that the budget no longer reaches.
GLIMPSE = 160


@dataclass(frozen=True, slots=True)
class ExtractPassages:
    """Turns the best candidates into hits that can be read."""

    ledger: Ledger

    async def __call__(
        self,
        request: SearchRequest,
        found: Candidates,
        ranked: Sequence[Ranked],
        best: Sequence[HitGroup],
        rerank_scores: Mapping[NoteId, float],
    ) -> list[Hit]:
        """The hits in the order of `best`, with passages of about `max_chars` characters together.

        A hit whose note was changed or deleted since it was ranked is left out.
        """
        shown = {hit.shown.note_id for hit in best}
        chunks = [one for one in ranked if one.note_id in shown and not _is_short(one)][:PASSAGE_CHUNKS]
        keys = dict.fromkeys(one.candidate.chunk_key for one in (*(hit.shown for hit in best), *chunks))
        read = {
            candidate.stored.chunk_key: candidate
            for candidate in await self.ledger.candidates(list(keys), request.where)
        }
        # With neighbours two thirds of the budget are for what stands around the passages.
        budget = request.max_chars // 3 if request.expand_neighbors else request.max_chars
        passages = _passages(found, chunks, read, budget)
        hits = [
            _hit(hit, read[key], passages.get(hit.shown.note_id, ()), rerank_scores)
            for hit in best
            if (key := hit.shown.candidate.chunk_key) in read
        ]
        if not request.expand_neighbors:
            return hits
        shown_chars = sum(_characters(hit) for hit in hits)
        room = room_for_context(request.max_chars, shown_chars, sum(hit.note.is_chunked for hit in hits))
        return [await self._expanded(hit, room) for hit in hits]

    async def _expanded(self, hit: Hit, room: int) -> Hit:
        """The hit with its best passage in its chunk and the neighbours, as far as there is room."""
        if not hit.note.is_chunked:
            return hit
        near = await self.ledger.chunk_range(hit.note.note_id, hit.chunk_index - 1, hit.chunk_index + 1)
        by_index = {stored.chunk.index: stored.chunk for stored in near}
        if hit.chunk_index not in by_index:
            return hit
        chunk = by_index[hit.chunk_index]
        start, end = answering(((p.start_char, p.end_char) for p in hit.passages), chunk)
        near_by = expand_chunk(chunk, by_index.get(chunk.index - 1), by_index.get(chunk.index + 1))
        return replace(hit, expanded=near_by.around(start, end, room).parts)


def scored(read: ChunkWithNote, score: float) -> ScoredChunk:
    """A chunk whose sentences shall be looked at."""
    stored = read.stored
    return ScoredChunk(
        str(stored.note_id),
        stored.chunk.start_char,
        stored.chunk.content,
        score,
        TermVector.decode(stored.profile),
        SentenceMap.decode(read.sentences),
    )


def _characters(hit: Hit) -> int:
    """What is shown of a hit before neighbours are: all its passages, or of a cut note at most the longest."""
    lengths = [len(passage.text) for passage in hit.passages]
    return max(lengths) if hit.note.is_chunked else sum(lengths)


def _is_short(one: Ranked) -> bool:
    return not one.candidate.is_chunked and one.candidate.characters <= SHORT_NOTE


def _passages(
    found: Candidates, chunks: Sequence[Ranked], read: Mapping[ChunkKey, ChunkWithNote], max_chars: int
) -> Mapping[NoteId, Sequence[Passage]]:
    """The sentences that answer, the best of all chunks, by note."""
    legible = [
        scored(candidate, one.score)
        for one in chunks
        if (candidate := read.get(one.candidate.chunk_key)) is not None and candidate.sentences
    ]
    names = {str(one.note_id): one.note_id for one in chunks}
    by_note: dict[NoteId, list[Passage]] = {}
    for extracted in extract(legible, found.terms, max_chars=max_chars):
        passage = Passage(extracted.text, extracted.start, extracted.end, extracted.score)
        by_note.setdefault(names[extracted.note], []).append(passage)
    return by_note


def _hit(hit: HitGroup, read: ChunkWithNote, passages: Sequence[Passage], rerank_scores: Mapping[NoteId, float]) -> Hit:
    one, note, chunk = hit.shown, read.note, read.stored.chunk
    if not passages:
        end = len(chunk.content) if _is_short(one) else min(GLIMPSE, len(chunk.content))
        passages = (Passage(chunk.content[:end], chunk.start_char, chunk.start_char + end, one.score),)
    return Hit(
        note=note,
        chunk_key=read.stored.chunk_key,
        chunk_id=chunk_public_id(note.public_id, chunk.index, read.stored.content_hash)
        if note.is_chunked
        else note.public_id,
        chunk_index=chunk.index,
        score=one.score,
        rrf_score=one.rrf_score,
        ranks=one.ranks,
        passages=tuple(passages),
        item_id=uuid4(),
        rerank_score=rerank_scores.get(note.note_id),
        duplicates=tuple(other.candidate.public_id for other in hit.duplicates),
    )
