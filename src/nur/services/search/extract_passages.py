"""Extract the passages of each hit that answer, with their offsets in the note's text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.chunks import chunk_public_id
from nur.domain.search import Hit, Passage, Payload
from nur.retrieval.passages.extract import extract
from nur.retrieval.passages.neighbours import best_range, expand_chunk, room_for_context
from nur.retrieval.passages.sentence_maps import SentenceMap
from nur.retrieval.passages.sentence_scores import ScoredChunk
from nur.retrieval.ranking.term_vectors import TermVector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import ChunkKey, NoteId
    from nur.domain.search import ExpandedChunk, SearchRequest
    from nur.ports.chunks import ChunkStore, ChunkWithNote
    from nur.ports.clock import Clock
    from nur.retrieval.ranking.duplicates import HitGroup
    from nur.retrieval.ranking.queries import WeighedTerms
    from nur.retrieval.ranking.rank import Ranked

#: Chunks whose sentences are compared: with twenty, more sentences resemble the question by chance.
PASSAGE_CHUNKS = 10
#: A note up to this long is shown whole: cutting it saves nothing and loses its context.
SHORT_NOTE = 500
#: What is shown of a hit that the budget no longer reaches.
EXCERPT = 160


@dataclass(frozen=True, slots=True)
class ExtractPassages:
    """Turns the best candidates into hits that can be read."""

    chunks: ChunkStore
    clock: Clock

    async def __call__(
        self,
        request: SearchRequest,
        terms: WeighedTerms,
        ranked: Sequence[Ranked],
        best: Sequence[HitGroup],
        rerank_scores: Mapping[NoteId, float],
    ) -> list[Hit]:
        """The hits in the order of `best`, with passages of about `max_chars` characters together.

        Chunks are read again: a note that was deleted since it was ranked is left out.
        """
        shown = {group.shown.note_id for group in best}
        with_passages = [one for one in ranked if one.note_id in shown and not _is_short(one)][:PASSAGE_CHUNKS]
        wanted = {one.candidate.chunk_key: one.note_id for one in (*(group.shown for group in best), *with_passages)}
        read = await self.chunks.show(
            wanted,
            request.where,
            self.clock.now(),
            with_neighbours=request.expand_neighbors,
            with_texts=request.payload is Payload.TEXTS,
        )
        # With neighbours, two thirds of the budget are for what surrounds the passages.
        budget = request.max_chars // 3 if request.expand_neighbors else request.max_chars
        passages = _passages(terms, with_passages, read, budget)
        hits = [
            _hit(
                group,
                read[key],
                passages.get(group.shown.note_id, ()),
                rerank_score=rerank_scores.get(group.shown.note_id),
            )
            for group in best
            if (key := group.shown.candidate.chunk_key) in read
        ]
        return with_neighbours(hits, read, request.max_chars) if request.expand_neighbors else hits


def scored_chunk(read: ChunkWithNote, score: float) -> ScoredChunk:
    """A chunk whose sentences are to be compared."""
    stored = read.stored
    return ScoredChunk(
        str(stored.note_id),
        stored.chunk.start_char,
        stored.chunk.content,
        score,
        TermVector.decode(stored.term_vector),
        SentenceMap.decode(read.sentences),
    )


def expanded(read: ChunkWithNote) -> ExpandedChunk | None:
    """A chunk between its neighbours; None for a note that is one chunk."""
    return expand_chunk(read.stored.chunk, read.before, read.after) if read.note.is_chunked else None


def chunk_id_of(read: ChunkWithNote) -> str:
    """The chunk's public id; the note's own when it is one chunk."""
    note, stored = read.note, read.stored
    if not note.is_chunked:
        return note.public_id
    return chunk_public_id(note.public_id, stored.chunk.index, stored.content_hash)


def _is_short(one: Ranked) -> bool:
    return not one.candidate.is_chunked and one.candidate.characters <= SHORT_NOTE


def with_neighbours(hits: Sequence[Hit], read: Mapping[ChunkKey, ChunkWithNote], max_chars: int) -> list[Hit]:
    """The hits with the surroundings of their best passages, all within the budget."""
    shown = sum(_characters(hit) for hit in hits)
    room = room_for_context(max_chars, shown, sum(hit.note.is_chunked for hit in hits))
    by_chunk = {one.stored.chunk_key: one for one in read.values()}
    return [replace(hit, expanded=_surroundings(hit, by_chunk[hit.chunk_key], room)) for hit in hits]


def _surroundings(hit: Hit, read: ChunkWithNote, room: int) -> ExpandedChunk | None:
    start, end = best_range(((p.start_char, p.end_char) for p in hit.passages), hit.chunk)
    whole = expanded(read)
    return None if whole is None else whole.around(start, end, room)


def _characters(hit: Hit) -> int:
    """What is shown of a hit without neighbours: all its passages, or the longest one of a chunked note."""
    lengths = [len(passage.text) for passage in hit.passages]
    return max(lengths) if hit.note.is_chunked else sum(lengths)


def _passages(
    terms: WeighedTerms, chunks: Sequence[Ranked], read: Mapping[ChunkKey, ChunkWithNote], max_chars: int
) -> Mapping[NoteId, Sequence[Passage]]:
    """The sentences that answer, the best of all chunks, by note."""
    found = [(one, read[key]) for one in chunks if (key := one.candidate.chunk_key) in read]
    legible = [scored_chunk(chunk, one.score) for one, chunk in found if chunk.sentences]
    note_ids = {str(one.note_id): one.note_id for one in chunks}
    by_note: dict[NoteId, list[Passage]] = {}
    for extracted in extract(legible, terms, max_chars=max_chars):
        passage = Passage(extracted.text, extracted.start, extracted.end, extracted.score)
        by_note.setdefault(note_ids[extracted.note], []).append(passage)
    return by_note


def _hit(
    group: HitGroup,
    read: ChunkWithNote,
    passages: Sequence[Passage],
    *,
    rerank_score: float | None,
) -> Hit:
    one, chunk = group.shown, read.stored.chunk
    if not passages:
        end = len(chunk.content) if _is_short(one) else min(EXCERPT, len(chunk.content))
        passages = (Passage(chunk.content[:end], chunk.start_char, chunk.start_char + end, one.score),)
    return Hit(
        note=read.note,
        chunk_key=read.stored.chunk_key,
        chunk_id=chunk_id_of(read),
        chunk=chunk,
        score=one.score,
        rrf_score=one.rrf_score,
        ranks=one.ranks,
        passages=tuple(passages),
        item_id=uuid4(),
        rerank_score=rerank_score,
        duplicates=tuple(other.candidate.public_id for other in group.duplicates),
        text=read.text,
    )
