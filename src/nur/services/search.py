"""Search: the right passage with its evidence. Read `Search.__call__` from top to bottom."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.chunks import chunk_public_id
from nur.domain.notes import Kind
from nur.domain.search import COLLECTIONS, Hit, Mode, Passage, SearchResult, Silence
from nur.observability import metrics
from nur.observability.events import EventLog
from nur.retrieval.neighbours import surround
from nur.retrieval.passages import extract
from nur.retrieval.profiles import Profile
from nur.retrieval.ranking import rank
from nur.retrieval.sentence_maps import SentenceMap
from nur.retrieval.sentence_scores import ScoredChunk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import NoteId
    from nur.domain.search import SearchRequest
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.ports.ledger import Ledger
    from nur.retrieval.ranking import Ranked
    from nur.services.gather import Found, Gather

log = EventLog("RetrievalService")

#: Chunks whose sentences are looked at: of twenty, more sentences are like the question by chance.
PASSAGE_CHUNKS = 10
#: A note up to this long is shown whole: cutting it saves nothing and loses its context.
SHORT_NOTE = 500
#: What is shown of a hit that the budget no longer reaches.
GLIMPSE = 160


@dataclass(frozen=True, slots=True)
class Search:
    """Answers questions from everything stored."""

    gather: Gather
    ledger: Ledger
    embedder: Embedder
    clock: Clock

    async def __call__(self, request: SearchRequest) -> SearchResult:
        """Best hits first, one a note; `degraded` names each ranker that did not answer."""
        started = self.clock.monotonic()
        log.info(
            "search_started",
            tool=request.tool,
            query_length=len(request.query),
            collections=searched(request),
            include_memory=Kind.MEMORY in request.selection.kinds,
        )
        found = await self.gather(request)
        ranked = rank(
            request.query, found.candidates, found.beside, found.terms, found.corpus.average_length, found.cosines
        )
        best = _best_per_note(ranked)[: request.limit]
        passages = await self._passages(request, found, ranked, best)
        hits = [_hit(one, passages.get(one.candidate.note.note_id, ())) for one in best]
        if request.expand_neighbors:
            hits = [await self._expanded(hit) for hit in hits]
        result = SearchResult(
            hits=tuple(hits),
            search_id=uuid4(),
            model=self.embedder.model,
            degraded=found.degraded,
            reason=None if hits else await self._silence(request, found),
        )
        self._account(request, result, self.clock.monotonic() - started)
        return result

    async def _passages(
        self, request: SearchRequest, found: Found, ranked: Sequence[Ranked], best: Sequence[Ranked]
    ) -> Mapping[NoteId, Sequence[Passage]]:
        """The best passages of all, by note: short notes whole, of long ones the sentences that answer."""
        shown = {one.candidate.note.note_id for one in best}
        chunks = [one for one in ranked if one.candidate.note.note_id in shown and not _is_short(one)][:PASSAGE_CHUNKS]
        maps = await self.ledger.sentence_maps([one.candidate.stored.chunk_key for one in chunks])
        scored = [
            ScoredChunk(
                str(one.candidate.note.note_id),
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
        names = {str(one.candidate.note.note_id): one.candidate.note.note_id for one in chunks}
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

    async def _silence(self, request: SearchRequest, found: Found) -> Silence:
        if found.degraded:
            return Silence.DEGRADED
        stored = await self.ledger.count(request.selection)
        return Silence.BELOW_FLOOR if stored else Silence.NOTHING_STORED

    def _account(self, request: SearchRequest, result: SearchResult, seconds: float) -> None:
        metrics.SEARCHES.labels(request.tool).inc()
        metrics.SEARCH_LATENCY.labels(request.tool).observe(seconds)
        metrics.SEARCH_RESULTS.observe(len(result.hits))
        if request.mode is Mode.HYBRID and not result.degraded:
            metrics.RRF_MERGES.inc()
        log.info(
            "search_completed",
            tool=request.tool,
            results_count=len(result.hits),
            latency_ms=round(seconds * 1000),
            collections_searched=searched(request),
            rrf_applied=request.mode is Mode.HYBRID and not result.degraded,
            degraded=list(result.degraded),
        )


def searched(request: SearchRequest) -> list[str]:
    """The specification's collections that a request looks into."""
    return sorted({name for name, kind in COLLECTIONS if kind in request.selection.kinds})


def _is_short(one: Ranked) -> bool:
    return not one.candidate.note.is_chunked and len(one.candidate.stored.chunk.content) <= SHORT_NOTE


def _best_per_note(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The best chunk of each note, in order."""
    best: dict[NoteId, Ranked] = {}
    for one in ranked:
        best.setdefault(one.candidate.note.note_id, one)
    return list(best.values())


def _hit(one: Ranked, passages: Sequence[Passage]) -> Hit:
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
    )
