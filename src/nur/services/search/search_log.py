"""The search log: a trace of every search, written after the answer, in batches, and readable at once.

A trace is also the search's session: it holds ids, scores and offsets, never a word of what was found, so that a
repeated answer cannot show what was deleted, changed or hidden since.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from nur.domain.chunks import chunk_uuid
from nur.domain.errors import NurError
from nur.domain.traces import Trace, TraceItem, filter_as_json
from nur.observability.events import EventLog
from nur.retrieval.ranking.grouping import trace_candidates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from nur.domain.access import Caller
    from nur.domain.filters import PrivacyFilter
    from nur.domain.search import Fusion, Hit, Quote, SearchRequest, SearchResult
    from nur.domain.traces import TracedCandidate
    from nur.ports.clock import Clock
    from nur.ports.search_log import SearchLogStore
    from nur.retrieval.currency.order import Move
    from nur.retrieval.ranking.rank import Ranked
    from nur.services.search.rerank import Reranked
    from nur.services.search.retrieve import Retrieved

log = EventLog("Traces")

#: How long a trace waits for others: they share one commit.
BATCH_SECONDS = 0.5
BATCH = 64
#: So long a trace that is not stored yet is waited for: another process writes its own within this time.
OTHERS_SECONDS = 3 * BATCH_SECONDS
LOOK_AGAIN_SECONDS = 0.1
#: Traces that wait while the store cannot be written; the oldest makes room for a newer one.
MAX_PENDING = 512
PURGE_SECONDS = 3600.0
#: A search can be repeated for this long, even when traces are kept shorter.
SESSION_DAYS = 1.0


@dataclass(slots=True)
class Stopwatch:
    """How long each stage of a search took."""

    clock: Clock
    milliseconds: dict[str, float] = field(default_factory=dict)  #: by stage
    _started: float = field(init=False)
    _last: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self._last = self.clock.monotonic()

    def lap(self, stage: str) -> None:
        """Record that a stage ends now."""
        now = self.clock.monotonic()
        self.milliseconds[stage] = round((now - self._last) * 1000, 3)
        self._last = now

    @property
    def seconds(self) -> float:
        """Since the start."""
        return self.clock.monotonic() - self._started


@dataclass(frozen=True, slots=True)
class SearchRun:
    """A finished search, with everything it read."""

    request: SearchRequest
    found: Retrieved
    ranked: Sequence[Ranked]
    ordered: Reranked
    result: SearchResult
    floor: float | None
    fusion: Fusion
    milliseconds: Mapping[str, float]
    moves: Sequence[Move] = ()  #: which notes stand before others because they are newer


@dataclass(slots=True)
class SearchLog:
    """The traces of this process that wait to be written, and behind them the stored ones."""

    store: SearchLogStore
    clock: Clock
    retention_days: float  #: 0: no candidates are kept
    with_queries: bool  #: whether the questions themselves are kept
    privacy: PrivacyFilter
    others_write: bool = False  #: other processes keep their traces in the same store
    _pending: OrderedDict[UUID, Trace] = field(default_factory=OrderedDict)
    _waiting: asyncio.Event = field(default_factory=asyncio.Event)

    def record(self, run: SearchRun) -> None:
        """Keep a search; it is written a little later."""
        trace = self._trace(run)
        self._pending[trace.trace_id] = trace
        if len(self._pending) > MAX_PENDING:
            self._pending.popitem(last=False)
            log.warning("trace_given_up", pending=MAX_PENDING)
        self._waiting.set()

    async def find(self, name: UUID, caller: Caller) -> Trace | None:
        """A trace by its own id or by its search's; None where traces are not kept or the caller may not see it."""
        trace = await self.session(caller.tenant, name) if self.retention_days else None
        if trace is None or not self.privacy.can_explain(trace.tenant, trace.principal, caller.principal):
            return None
        return trace

    async def session(self, tenant: str, name: UUID) -> Trace | None:
        """What a search returned, by its own id or its trace's."""
        for trace in reversed(self._pending.values()):
            if name in (trace.trace_id, trace.search_id) and trace.tenant == tenant:
                return trace
        stored = await self.store.trace(tenant, name)
        waited = 0.0
        while stored is None and self.others_write and waited < OTHERS_SECONDS:  # another process may be about to
            await self.clock.sleep(LOOK_AGAIN_SECONDS)
            waited += LOOK_AGAIN_SECONDS
            stored = await self.store.trace(tenant, name)
        return stored

    async def find_item(self, item_id: UUID, caller: Caller) -> TraceItem | None:
        """One hit of a trace; None where traces are not kept or the caller may not see it."""
        pending = (item for trace in reversed(self._pending.values()) for item in trace.items)
        item = next((item for item in pending if item.item_id == item_id), None)
        item = item or await self.store.item(caller.tenant, item_id)
        return None if item is None or await self.find(item.trace_id, caller) is None else item

    async def forever(self) -> None:
        """Write what waits, again and again, until cancelled; `flush` writes the rest."""
        while True:
            await self._waiting.wait()
            await self.clock.sleep(BATCH_SECONDS)
            try:
                await self.flush()
            except NurError as error:
                log.warning("traces_wait", error=error.code, pending=len(self._pending))

    async def purge_forever(self) -> None:
        """Delete traces that are too old, once an hour."""
        while True:
            try:
                days = max(self.retention_days, SESSION_DAYS)
                purged = await self.store.purge(self.clock.now() - timedelta(days=days))
                log.debug("traces_purged", traces=purged)
            except NurError as error:
                log.warning("purge_waits", error=error.code)
            await self.clock.sleep(PURGE_SECONDS)

    async def flush(self) -> None:
        """Write everything that waits. Raises StoreDown; then all of it keeps waiting."""
        while self._pending:
            batch = list(self._pending.values())[:BATCH]
            await self.store.save(batch)
            for trace in batch:
                self._pending.pop(trace.trace_id, None)
        self._waiting.clear()

    async def close(self) -> None:
        """Write what waits, if the store can be written; traces are no reason to fail."""
        try:
            await self.flush()
        except NurError as error:
            log.warning("traces_lost", error=error.code, pending=len(self._pending))

    def _trace(self, run: SearchRun) -> Trace:
        """Everything about a search but the texts it read."""
        request, result = run.request, run.result
        shown = {group.shown.note_id: group.shown for group in run.ordered.groups[: request.limit]}
        return Trace(
            trace_id=result.trace_id,
            search_id=result.search_id,
            tenant=request.where.tenant,
            principal=request.caller.principal.name,
            query=request.query if self.with_queries and self.retention_days else None,
            request={
                "tool": request.tool,
                "limit": request.limit,
                "mode": request.mode.value,
                "max_chars": request.max_chars,
                "payload": request.payload.value,
                "expand_neighbors": request.expand_neighbors,
                "when": request.when if self.with_queries else None,
                "as_of": None if request.as_of is None else request.as_of.isoformat(),
                "selection": filter_as_json(request.where),
            },
            outcome={
                "hits": len(result.hits),
                "degraded": list(result.degraded),
                "reason": result.reason.value if result.reason else None,
                "notice": result.notice,
                "confidence": result.confidence,
                "fusion": run.fusion.value,
                "floor": run.floor,
                "wanted": run.found.limit,
                "embedding_version": result.model.version,
                "newer": [list(move) for move in run.moves],
                "conflicts": [[_place(quote) for quote in pair] for pair in result.conflicts],
            },
            timings=dict(run.milliseconds),
            candidates=_candidates(run) if self.retention_days else (),
            items=tuple(
                _item(hit, rank, result.trace_id, shown[hit.note.note_id]) for rank, hit in enumerate(result.hits, 1)
            ),
            created_at=self.clock.now(),
        )


def _place(quote: Quote) -> list[str | int]:
    return [quote.public_id, quote.start_char, quote.end_char]


def _candidates(run: SearchRun) -> tuple[TracedCandidate, ...]:
    limit, groups = run.request.limit, run.ordered.groups
    read = {hit.note.note_id for hit in run.result.hits}
    first = [group for group in groups[:limit] if group.shown.note_id in read]
    return trace_candidates(
        run.ranked,
        [*first, *groups[limit:]],
        limit=limit,
        floor=run.floor,
        rerank_scores=run.ordered.scores,
        dropped=run.found.candidates.not_visible,
    )


def _item(hit: Hit, rank: int, trace_id: UUID, one: Ranked) -> TraceItem:
    seen = one.candidate
    return TraceItem(
        item_id=hit.item_id,
        trace_id=trace_id,
        rank=rank,
        note_id=hit.note.note_id,
        chunk_id=chunk_uuid(hit.note.note_id, seen.chunk_index, seen.content_hash),
        chunk_key=hit.chunk_key,
        passages=[(passage.start_char, passage.end_char, passage.score) for passage in hit.passages],
        duplicates=list(hit.duplicates),
        scores={
            "score": one.score,
            "lexical": one.lexical,
            "cosine": one.cosine,
            "bonus": one.bonus,
            "rrf_score": one.rrf_score,
            "rerank_score": hit.rerank_score,
            "ranks": dict(one.ranks),
        },
        public_id=hit.note.public_id,
        public_chunk_id=hit.chunk_id,
    )
