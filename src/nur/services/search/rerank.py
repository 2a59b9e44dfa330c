"""Ask a reranker for a second opinion on the best hits; without one, in time, the first opinion stands."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nur.domain.errors import RerankerDown
from nur.observability.events import EventLog
from nur.retrieval.passages.extract import extract
from nur.retrieval.passages.neighbours import BOUNDARY, expand_chunk
from nur.services.search.extract_passages import scored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import NoteId
    from nur.domain.search import SearchRequest
    from nur.ports.ledger import ChunkWithNote, Ledger
    from nur.ports.reranker import Reranker
    from nur.retrieval.ranking.duplicates import HitGroup
    from nur.retrieval.ranking.queries import WeighedTerms
    from nur.retrieval.ranking.rank import Ranked

log = EventLog("RetrievalService")

RERANK = "rerank"


@dataclass(frozen=True, slots=True)
class Reranked:
    """Hits in their final order."""

    hits: Sequence[HitGroup]
    scores: Mapping[NoteId, float] = field(default_factory=dict)  #: the reranker's, of those that it was asked about
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rerank:
    """Reorders the first `top` hits by what a reranker says about their text."""

    reranker: Reranker
    ledger: Ledger
    deadline_seconds: float
    top: int

    @property
    def asks(self) -> int:
        """How many hits the reranker is asked about."""
        return self.top if self.reranker.max_chars else 0

    async def __call__(self, request: SearchRequest, hits: Sequence[HitGroup], terms: WeighedTerms) -> Reranked:
        """The hits in the reranker's order; in their own, and said so, when it does not answer within the deadline."""
        asked, rest = hits[: self.asks], hits[self.asks :]
        if not asked:
            return Reranked(hits)
        try:
            async with asyncio.timeout(self.deadline_seconds):
                read = await self.ledger.candidates([hit.shown.candidate.chunk_key for hit in asked], request.where)
                by_key = {candidate.stored.chunk_key: candidate for candidate in read}
                asked = [hit for hit in asked if hit.shown.candidate.chunk_key in by_key]
                texts = await asyncio.gather(
                    *(self._stitched(hit.shown, by_key[hit.shown.candidate.chunk_key], terms) for hit in asked)
                )
                scores = await self.reranker.score(request.query, texts)
        except (RerankerDown, TimeoutError) as error:
            log.warning("rerank_unavailable", error=type(error).__name__, reranker=self.reranker.name)
            return Reranked(hits, degraded=(RERANK,))
        by_score = sorted(zip(scores, asked, strict=True), key=lambda scored: -scored[0])
        return Reranked([*(hit for _, hit in by_score), *rest], {hit.shown.note_id: score for score, hit in by_score})

    async def _stitched(self, one: Ranked, read: ChunkWithNote, terms: WeighedTerms) -> str:
        """As much of a hit as the model reads: its chunk between its neighbours, or of a longer one what answers."""
        chunk, most = read.stored.chunk, self.reranker.max_chars
        if len(chunk.content) > most:
            return self._extracted(one, read, terms)
        if not read.note.is_chunked:
            return chunk.content
        near = await self.ledger.chunk_range(one.note_id, chunk.index - 1, chunk.index + 1)
        by_index = {stored.chunk.index: stored.chunk for stored in near}
        around = expand_chunk(chunk, by_index.get(chunk.index - 1), by_index.get(chunk.index + 1))
        room = most - len(chunk.content)
        before = around.before[len(around.before) - min(len(around.before), room // 2) :]
        after = around.after[: room - len(before)]
        return before + chunk.content + after

    def _extracted(self, one: Ranked, read: ChunkWithNote, terms: WeighedTerms) -> str:
        """The sentences of a long chunk that answer, in the order of the text."""
        most = self.reranker.max_chars
        if not read.sentences:
            return read.stored.chunk.content[:most]
        found = sorted(extract([scored(read, one.score)], terms, max_chars=most), key=lambda passage: passage.start)
        return f"\n{BOUNDARY}\n".join(passage.text for passage in found)[:most]
