"""Reorder the best hits with a reranker; if it does not answer in time, they keep their order."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nur.domain.errors import RerankerDown
from nur.domain.search import BOUNDARY
from nur.observability.events import EventLog
from nur.retrieval.passages.extract import extract
from nur.services.search.extract_passages import expanded, passage_note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import NoteId
    from nur.domain.search import SearchRequest
    from nur.ports.chunks import ChunkStore, ChunkWithNote
    from nur.ports.clock import Clock
    from nur.ports.reranker import Reranker
    from nur.retrieval.ranking.grouping import HitGroup
    from nur.retrieval.ranking.queries import WeightedTerms
    from nur.retrieval.ranking.rank import Ranked

log = EventLog("RetrievalService")

RERANK = "rerank"


@dataclass(frozen=True, slots=True)
class Reranked:
    """Hits in their final order."""

    groups: Sequence[HitGroup]
    scores: Mapping[NoteId, float] = field(default_factory=dict)  #: the reranker's, of those it scored
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rerank:
    """Reorders the first `top` hits by the reranker's scores of their text."""

    reranker: Reranker
    chunks: ChunkStore
    clock: Clock
    deadline_seconds: float
    top: int

    async def __call__(self, request: SearchRequest, groups: Sequence[HitGroup], terms: WeightedTerms) -> Reranked:
        """The hits in the reranker's order; in their own order and degraded, if it does not answer in time."""
        top, rest = groups[: self.top], groups[self.top :]
        if not top:
            return Reranked(groups)
        try:
            async with asyncio.timeout(self.deadline_seconds):
                wanted = {group.shown.candidate.chunk_key: group.shown.note_id for group in top}
                read = await self.chunks.show(wanted, request.where, self.clock.now(), with_neighbours=True)
                top = [group for group in top if group.shown.candidate.chunk_key in read]
                texts = [self._text(group.shown, read[group.shown.candidate.chunk_key], terms) for group in top]
                scores = await self.reranker.score(request.query, texts)
        except (RerankerDown, TimeoutError) as error:
            log.warning("rerank_unavailable", error=type(error).__name__, reranker=self.reranker.name)
            return Reranked(groups, degraded=(RERANK,))
        by_score = sorted(zip(scores, top, strict=True), key=lambda scored: -scored[0])
        ordered = [*(group for _, group in by_score), *rest]
        return Reranked(ordered, {group.shown.note_id: score for score, group in by_score})

    def _text(self, one: Ranked, read: ChunkWithNote, terms: WeightedTerms) -> str:
        """What the model reads of a hit: its chunk with neighbours, or the best sentences of a longer chunk."""
        chunk, most = read.stored.chunk, self.reranker.max_chars
        if len(chunk.content) > most:
            return self._extracted(one, read, terms)
        around = expanded(read)
        if around is None:
            return chunk.content
        room = most - len(chunk.content)
        before = around.before[len(around.before) - min(len(around.before), room // 2) :]
        return before + chunk.content + around.after[: room - len(before)]

    def _extracted(self, one: Ranked, read: ChunkWithNote, terms: WeightedTerms) -> str:
        """The sentences of a long chunk that answer, in text order."""
        most = self.reranker.max_chars
        best = extract([passage_note([(one, read)])], terms, max_chars=most)
        if not best:
            return read.stored.chunk.content[:most]
        found = sorted(best[str(one.note_id)], key=lambda passage: passage.start)
        return f"\n{BOUNDARY}\n".join(passage.text for passage in found)[:most]
