"""Search: the right passage with its evidence. Read `Search._search` from top to bottom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.notes import Kind
from nur.domain.notices import search_notice
from nur.domain.search import COLLECTIONS, EmptyReason, Fusion, Mode, SearchResult
from nur.observability import metrics
from nur.observability.events import EventLog
from nur.retrieval.ranking.duplicates import fold_duplicates, lookalikes
from nur.retrieval.ranking.grouping import shortlist
from nur.retrieval.ranking.queries import NO_TERMS
from nur.retrieval.ranking.rank import rank
from nur.services.search.search_log import SearchRun, Stopwatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.search import SearchRequest
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.ports.ledger import Ledger
    from nur.retrieval.calibration import ModelCalibration
    from nur.retrieval.ranking.duplicates import HitGroup
    from nur.retrieval.ranking.rank import Ranked
    from nur.services.search.extract_passages import ExtractPassages
    from nur.services.search.rerank import Rerank
    from nur.services.search.retrieve import Candidates, Retrieve
    from nur.services.search.search_log import SearchLog

log = EventLog("RetrievalService")

#: Scores that a search's log line holds.
TOP_SCORES = 5


@dataclass(frozen=True, slots=True)
class Search:
    """Answers questions from everything stored."""

    gather: Retrieve
    rerank: Rerank
    quote: ExtractPassages
    traces: SearchLog
    ledger: Ledger
    embedder: Embedder
    clock: Clock
    profile: ModelCalibration
    fusion: Fusion

    async def __call__(self, request: SearchRequest) -> SearchResult:
        """Best hits first, one a note; `degraded` names each ranker that did not answer."""
        watch = Stopwatch(self.clock)
        log.info(
            "search_started",
            tool=request.tool,
            query_length=len(request.query),
            collections=collections_of(request),
            include_memory=Kind.MEMORY in request.where.kinds,
        )
        searched = await self._search(request, watch)
        if searched.store_moved:  # what it says now is found by looking again
            searched = await self._search(request, watch)
        self.traces.record(searched)
        self._account(request, searched.result, watch.seconds)
        return searched.result

    async def _search(self, request: SearchRequest, watch: Stopwatch) -> SearchRun:
        """From the question to the answer, stage by stage: docs/why/search.md tells why each is there."""
        found = await self.gather(request)
        watch.lap("gather")
        ranked = self.ranked(request, found)
        floor = self.floor(request, found)
        listed = shortlist(ranked, floor)
        folded = await self.folded(request, listed.notes)
        while len(folded) < request.limit and found.has_more and not listed.reached_floor:
            found = await self.gather.wider(request, found)
            ranked = self.ranked(request, found)
            listed = shortlist(ranked, floor)
            folded = await self.folded(request, listed.notes)
        watch.lap("rank")
        ordered = await self.rerank(request, folded, found.terms)
        watch.lap("rerank")
        best = ordered.hits[: request.limit]
        hits = await self.quote(request, found, ranked, best, ordered.scores)
        watch.lap("quote")
        degraded = found.degraded + ordered.degraded
        reason = None if hits else await self._silence(request, found)
        result = SearchResult(
            hits=tuple(hits),
            search_id=uuid4(),
            trace_id=uuid4(),
            model=self.embedder.model,
            degraded=degraded,
            reason=reason,
            notice=search_notice(request, degraded, reason, compared=found.vector is not None),
            confidence=best[0].shown.confidence if hits and request.mode is Mode.HYBRID else None,
        )
        return SearchRun(request, found, ranked, ordered, result, floor, self.fusion, watch.milliseconds)

    def ranked(self, request: SearchRequest, found: Candidates) -> list[Ranked]:
        """Every candidate with its scores, best first; by meaning alone where that is what was asked for."""
        question, terms = ("", NO_TERMS) if request.mode is Mode.DENSE else (request.query, found.terms)
        return rank(
            question,
            found.candidates,
            found.beside,
            terms,
            found.question.corpus.average_length,
            found.cosines,
            self.profile,
            self.fusion,
        )

    def floor(self, request: SearchRequest, found: Candidates) -> float | None:
        """The least confidence of an answer; None where only one ranker spoke, for it was measured with both."""
        return self.profile.floor if request.mode is Mode.HYBRID and not found.degraded else None

    async def folded(self, request: SearchRequest, notes: Sequence[Ranked]) -> list[HitGroup]:
        """One hit for notes that say the same; reads the texts of those that might."""
        alike = lookalikes(notes)
        read = await self.ledger.candidates(alike, request.where) if alike else ()
        return fold_duplicates(notes, {candidate.stored.chunk_key: candidate for candidate in read})

    async def _silence(self, request: SearchRequest, found: Candidates) -> EmptyReason:
        if not await self.ledger.count(request.where):
            return EmptyReason.NOTHING_STORED
        return EmptyReason.DEGRADED if found.degraded else EmptyReason.BELOW_FLOOR

    def _account(self, request: SearchRequest, result: SearchResult, seconds: float) -> None:
        metrics.SEARCHES.labels(request.tool).inc()
        metrics.SEARCH_LATENCY.labels(request.tool).observe(seconds)
        metrics.SEARCH_RESULTS.observe(len(result.hits))
        both = request.mode is Mode.HYBRID and "dense" not in result.degraded
        by_rrf = both and self.fusion is Fusion.RRF
        if by_rrf:
            metrics.RRF_MERGES.inc()
        log.info(
            "search_completed",
            tool=request.tool,
            search_id=str(result.search_id),
            results_count=len(result.hits),
            latency_ms=round(seconds * 1000),
            collections_searched=collections_of(request),
            rrf_applied=by_rrf,
            degraded=list(result.degraded),
            top_scores=[round(hit.score, 4) for hit in result.hits[:TOP_SCORES]],
        )


def collections_of(request: SearchRequest) -> list[str]:
    """The specification's collections that a request looks into."""
    return sorted({name for name, kind in COLLECTIONS if kind in request.where.kinds})
