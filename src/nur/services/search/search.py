"""Search: the right passage with its evidence. Read `Search._search` from top to bottom."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.kinds import collections_of
from nur.domain.notes import Kind
from nur.domain.notices import Closeness, search_notice
from nur.domain.search import EmptyReason, Fusion, Mode, Payload, SearchResult
from nur.observability import metrics
from nur.observability.events import EventLog
from nur.ports.embedder import PieceEmbedder
from nur.retrieval.currency.order import CurrentFirst, by_rules, decided, with_update
from nur.retrieval.currency.utterances import MAX_UTTERANCES
from nur.retrieval.pieces.vectors import cosines
from nur.retrieval.ranking.confidence import answer_confidence, answer_model_of
from nur.retrieval.ranking.grouping import best_notes, best_per_note, fold_duplicates
from nur.retrieval.ranking.queries import NO_TERMS
from nur.retrieval.ranking.rank import ModelEvidence, PieceQuestion, rank
from nur.retrieval.ranking.scores import time_bonuses
from nur.retrieval.times.find import with_times
from nur.services.search.rerank import Rerank, Reranked
from nur.services.search.search_log import SearchRun, Stopwatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.filters import PrivacyFilter
    from nur.domain.search import Hit, SearchRequest
    from nur.domain.times import Zone
    from nur.ports.chunks import CandidateSet
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.retrieval.calibration import ModelCalibration
    from nur.retrieval.ranking.rank import Ranked
    from nur.services.search.as_known import AsKnown
    from nur.services.search.extract_passages import ExtractPassages
    from nur.services.search.retrieve import Retrieve, Retrieved
    from nur.services.search.search_log import SearchLog

log = EventLog("RetrievalService")

#: Scores in a search's log line.
TOP_SCORES = 5


@dataclass(frozen=True, slots=True)
class Search:
    """Answers questions from everything stored."""

    retrieve: Retrieve
    rerank: Rerank | None
    extract_passages: ExtractPassages
    as_known: AsKnown
    search_log: SearchLog
    privacy: PrivacyFilter
    embedder: Embedder
    clock: Clock
    calibration: ModelCalibration
    fusion: Fusion
    zone: Zone

    async def __call__(self, request: SearchRequest) -> SearchResult:
        """Best hits first, one per note; `degraded` names each ranker that did not answer."""
        stopwatch = Stopwatch(self.clock)
        visible = self.privacy.visible(request.where, request.caller.principal)
        request = replace(request, where=visible)
        log.info(
            "search_started",
            tool=request.tool,
            query_length=len(request.query),
            collections=sorted(collections_of(request.where.kinds)),
            include_memory=Kind.MEMORY in request.where.kinds,
        )
        run = await self._search(request, stopwatch)
        self.search_log.record(run)
        self._report(request, run.result, stopwatch.seconds)
        return run.result

    async def _search(self, request: SearchRequest, stopwatch: Stopwatch) -> SearchRun:
        """Answer a question, stage by stage; docs/why/search.md explains each stage."""
        found = await self.retrieve(request)
        stopwatch.lap("retrieve")
        ranked = self.ranked(request, found)
        floor = self.floor(request, found)
        listed = best_notes(ranked, floor, found.candidates.superseded, found.candidates.updated_by)
        groups = fold_duplicates(listed.notes, found.candidates.lookalikes)
        while len(groups) < request.limit and found.has_more and not listed.reached_floor:
            found = await self.retrieve.wider(request, found)
            ranked = self.ranked(request, found)
            listed = best_notes(ranked, floor, found.candidates.superseded, found.candidates.updated_by)
            groups = fold_duplicates(listed.notes, found.candidates.lookalikes)
        stopwatch.lap("rank")
        ordered = await self.rerank(request, groups, found.question.terms) if self.rerank else Reranked(groups)
        stopwatch.lap("rerank")
        superseded = found.candidates.superseded
        current = decided(ordered.groups, superseded) if superseded else CurrentFirst(ordered.groups)
        current = replace(current, groups=with_update(current.groups, found.candidates.updated_by))
        read = await self.extract_passages.read(request, ranked, current.groups, MAX_UTTERANCES)
        names_time = bool(found.question.time.windows)
        current = by_rules(request, found.question.terms, current, read, names_time=names_time)
        ordered = replace(ordered, groups=current.groups)
        best = current.groups[: request.limit]
        hits = self.extract_passages.extract(request, found.question.terms, ranked, best, ordered.scores, read)
        if request.as_of is not None:
            whole = request.payload is Payload.TEXTS
            hits = await self.as_known(hits, request.as_of, found.question.terms, whole=whole)
        hits = current.marked(with_times(hits, self.zone))
        stopwatch.lap("passages")
        degraded = found.degraded + ordered.degraded
        reason = None if hits else _empty_reason(found)
        confidence = self._confidence(request, ranked, hits)
        closeness = _closeness(confidence, hits, ranked, is_cut=listed.reached_floor and len(hits) < request.limit)
        result = SearchResult(
            hits=tuple(hits),
            search_id=uuid4(),
            trace_id=uuid4(),
            model=self.embedder.model,
            degraded=degraded,
            reason=reason,
            notice=search_notice(request, degraded, reason, compared=found.is_compared, closeness=closeness),
            confidence=confidence,
            relevance=None if confidence is None else ranked[0].relevance,
            conflicts=current.conflicts_of(hits),
        )
        moves = current.moves
        return SearchRun(request, found, ranked, ordered, result, floor, self.fusion, stopwatch.milliseconds, moves)

    def ranked(self, request: SearchRequest, found: Retrieved) -> list[Ranked]:
        """Every candidate with its scores, best first; by meaning alone in dense mode."""
        by_meaning = request.mode is Mode.DENSE
        question = PieceQuestion(
            "" if by_meaning else request.query,
            NO_TERMS if by_meaning else found.question.terms,
            found.question.piece_vector,
            found.question.vector,
        )
        candidates = found.candidates
        return rank(
            question,
            candidates.views,
            candidates.context_turns,
            self._by_model(candidates),
            self.calibration,
            self.fusion,
            time_bonuses(candidates.in_window, candidates.dated),
        )

    def _by_model(self, candidates: CandidateSet) -> ModelEvidence:
        compare = self.embedder.similarity if isinstance(self.embedder, PieceEmbedder) else cosines
        return ModelEvidence(candidates.cosines, candidates.model_vectors, compare)

    def floor(self, request: SearchRequest, found: Retrieved) -> float | None:
        """Least confidence of a hit; None unless both rankers answered, as in the measurement."""
        return self.calibration.floor if request.mode is Mode.HYBRID and not found.degraded else None

    def _confidence(self, request: SearchRequest, ranked: Sequence[Ranked], hits: Sequence[Hit]) -> float | None:
        """Probability that the first hit answers; None unless both words and meaning were compared."""
        if not hits or request.mode is not Mode.HYBRID or ranked[0].cosine is None:
            return None
        return answer_confidence(best_per_note(ranked), answer_model_of(self.calibration.embedding_version))

    def _report(self, request: SearchRequest, result: SearchResult, seconds: float) -> None:
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
            collections_searched=sorted(collections_of(request.where.kinds)),
            rrf_applied=by_rrf,
            degraded=list(result.degraded),
            top_scores=[round(hit.score, 4) for hit in result.hits[:TOP_SCORES]],
        )


def _closeness(confidence: float | None, hits: Sequence[Hit], ranked: Sequence[Ranked], *, is_cut: bool) -> Closeness:
    """How close the hits are to the question, for the notice; `is_cut`: the floor removed some."""
    if hits or not ranked:
        stored = any(hit.note.meta.confidence is not None for hit in hits)
        return Closeness(confidence=confidence, shows_stored=stored, leaves_out=is_cut)
    return Closeness(best_match=ranked[0].candidate.public_id, best_relevance=ranked[0].relevance)


def _empty_reason(found: Retrieved) -> EmptyReason:
    if not found.candidates.any_stored:
        return EmptyReason.NOTHING_STORED
    return EmptyReason.DEGRADED if found.degraded else EmptyReason.BELOW_FLOOR
