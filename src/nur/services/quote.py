"""Quote: of each hit the passages that answer, with their places in the note's text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.chunks import chunk_public_id
from nur.domain.search import Hit, Passage
from nur.retrieval.neighbours import surround
from nur.retrieval.passages import extract
from nur.retrieval.profiles import Profile
from nur.retrieval.sentence_maps import SentenceMap
from nur.retrieval.sentence_scores import ScoredChunk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import NoteId
    from nur.domain.search import SearchRequest
    from nur.ports.ledger import Ledger
    from nur.retrieval.duplicates import Collapsed
    from nur.retrieval.ranking import Ranked
    from nur.services.gather import Found

#: Chunks whose sentences are looked at: of twenty, more sentences are like the question by chance.
PASSAGE_CHUNKS = 10
#: A note up to this long is shown whole: cutting it saves nothing and loses its context.
SHORT_NOTE = 500
#: What is shown of a hit that the budget no longer reaches.
GLIMPSE = 160


@dataclass(frozen=True, slots=True)
class Quote:
    """Turns the best candidates into hits that can be read."""

    ledger: Ledger

    async def __call__(
        self,
        request: SearchRequest,
        found: Found,
        ranked: Sequence[Ranked],
        best: Sequence[Collapsed],
        rerank_scores: Mapping[NoteId, float],
    ) -> list[Hit]:
        """The hits in the order of `best`, with passages of about `max_chars` characters together."""
        passages = await self._passages(request, found, ranked, [one.shown for one in best])
        hits = [_hit(one, passages.get(one.shown.note_id, ()), rerank_scores) for one in best]
        return [await self._expanded(hit) for hit in hits] if request.expand_neighbors else hits

    async def _passages(
        self, request: SearchRequest, found: Found, ranked: Sequence[Ranked], best: Sequence[Ranked]
    ) -> Mapping[NoteId, Sequence[Passage]]:
        """The best passages of all, by note: short notes whole, of long ones the sentences that answer."""
        shown = {one.note_id for one in best}
        chunks = [one for one in ranked if one.note_id in shown and not _is_short(one)][:PASSAGE_CHUNKS]
        maps = await self.ledger.sentence_maps([one.candidate.stored.chunk_key for one in chunks])
        scored = [
            ScoredChunk(
                str(one.note_id),
                one.candidate.stored.chunk.start_char,
                one.candidate.stored.chunk.content,
                one.score,
                Profile.decode(one.candidate.stored.profile),
                SentenceMap.decode(maps[one.candidate.stored.chunk_key]),
            )
            for one in chunks
            if maps.get(one.candidate.stored.chunk_key)
        ]
        by_note: dict[NoteId, list[Passage]] = {}
        names = {str(one.note_id): one.note_id for one in chunks}
        for extracted in extract(scored, found.terms, max_chars=request.max_chars):
            passage = Passage(extracted.text, extracted.start, extracted.end, extracted.score)
            by_note.setdefault(names[extracted.note], []).append(passage)
        return by_note

    async def _expanded(self, hit: Hit) -> Hit:
        """The hit with its best chunk between its neighbours."""
        if not hit.note.is_chunked:
            return hit
        near = await self.ledger.chunk_range(hit.note.note_id, hit.chunk_index - 1, hit.chunk_index + 1)
        by_index = {stored.chunk.index: stored.chunk for stored in near}
        if hit.chunk_index not in by_index:
            return hit
        around = surround(
            by_index[hit.chunk_index], by_index.get(hit.chunk_index - 1), by_index.get(hit.chunk_index + 1)
        )
        return replace(hit, expanded=tuple(part for part in (around.before, around.target, around.after) if part))


def _is_short(one: Ranked) -> bool:
    return not one.candidate.note.is_chunked and len(one.candidate.stored.chunk.content) <= SHORT_NOTE


def _hit(hit: Collapsed, passages: Sequence[Passage], rerank_scores: Mapping[NoteId, float]) -> Hit:
    one = hit.shown
    note, chunk = one.candidate.note, one.candidate.stored.chunk
    if not passages:
        end = len(chunk.content) if _is_short(one) else min(GLIMPSE, len(chunk.content))
        passages = (Passage(chunk.content[:end], chunk.start_char, chunk.start_char + end, one.score),)
    return Hit(
        note=note,
        chunk_key=one.candidate.stored.chunk_key,
        chunk_id=chunk_public_id(note.public_id, chunk.index, one.candidate.stored.content_hash)
        if note.is_chunked
        else note.public_id,
        chunk_index=chunk.index,
        score=one.score,
        rrf_score=one.rrf_score,
        ranks=one.ranks,
        passages=tuple(passages),
        item_id=uuid4(),
        rerank_score=rerank_scores.get(note.note_id),
        duplicates=tuple(other.candidate.note.public_id for other in hit.duplicates),
    )
