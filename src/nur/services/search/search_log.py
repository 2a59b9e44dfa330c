"""Keep a trace of every search: written after the answer, in batches, and readable at once."""

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
from nur.retrieval.ranking.trace import trace_candidates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from nur.domain.search import Fusion, Hit, SearchRequest, SearchResult
    from nur.ports.clock import Clock
    from nur.ports.ledger import Ledger
    from nur.retrieval.ranking.rank import Ranked
    from nur.services.search.rerank import Reranked
    from nur.services.search.retrieve import Candidates

log = EventLog("Traces")

#: How long traces wait for company: they share one commit.
BATCH_SECONDS = 0.5
BATCH = 64
#: Traces that wait while the store cannot be written; the oldest is given up for a newer one.
MOST_PENDING = 512
PURGE_SECONDS = 3600.0


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
        """This stage ends now."""
        now = self.clock.monotonic()
        self.milliseconds[stage] = round((now - self._last) * 1000, 3)
        self._last = now

    @property
    def seconds(self) -> float:
        """Since the start."""
        return self.clock.monotonic() - self._started


@dataclass(frozen=True, slots=True)
class SearchRun:
    """A search that is over, with everything it looked at."""

    request: SearchRequest
    found: Candidates
    ranked: Sequence[Ranked]
    ordered: Reranked
    result: SearchResult
    floor: float | None
    fusion: Fusion
    milliseconds: Mapping[str, float]

    @property
    def store_moved(self) -> bool:
        """Whether a note that was found was changed or deleted before it could be read."""
        return self.found.store_moved or len(self.result.hits) < min(self.request.limit, len(self.ordered.hits))


@dataclass(slots=True)
class SearchLog:
    """The traces of this process's searches: those that wait to be written, and behind them the ledger's."""

    ledger: Ledger
    clock: Clock
    retention_days: float  #: 0: no traces are kept
    with_queries: bool  #: whether the questions themselves are
    _pending: OrderedDict[UUID, Trace] = field(default_factory=OrderedDict)
    _waiting: asyncio.Event = field(default_factory=asyncio.Event)

    def record(self, searched: SearchRun) -> None:
        """Remember a search; it is written a little later."""
        if not self.retention_days:
            return
        trace = self.trace_of(searched)
        self._pending[trace.trace_id] = trace
        if len(self._pending) > MOST_PENDING:
            self._pending.popitem(last=False)
            log.warning("trace_given_up", pending=MOST_PENDING)
        self._waiting.set()

    async def find(self, tenant: str, name: UUID) -> Trace | None:
        """A trace by its own id or by its search's."""
        for trace in reversed(self._pending.values()):
            if name in (trace.trace_id, trace.search_id) and trace.tenant == tenant:
                return trace
        return await self.ledger.trace(tenant, name)

    async def find_item(self, tenant: str, item_id: UUID) -> TraceItem | None:
        """One hit of a trace."""
        for trace in reversed(self._pending.values()):
            found = next((item for item in trace.items if item.item_id == item_id), None)
            if found is not None and trace.tenant == tenant:
                return found
        return await self.ledger.trace_item(tenant, item_id)

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
        """Let go of traces that are too old, once an hour."""
        while True:
            try:
                purged = await self.ledger.purge_traces(self.clock.now() - timedelta(days=self.retention_days))
                log.debug("traces_purged", traces=purged)
            except NurError as error:
                log.warning("purge_waits", error=error.code)
            await self.clock.sleep(PURGE_SECONDS)

    async def flush(self) -> None:
        """Write everything that waits. Raises StoreDown; then all of it waits on."""
        while self._pending:
            batch = list(self._pending.values())[:BATCH]
            await self.ledger.save_traces(batch)
            for trace in batch:
                self._pending.pop(trace.trace_id, None)
        self._waiting.clear()

    async def close(self) -> None:
        """Write what waits, if the store can be written; traces are no reason to fail."""
        try:
            await self.flush()
        except NurError as error:
            log.warning("traces_lost", error=error.code, pending=len(self._pending))

    def trace_of(self, searched: SearchRun) -> Trace:
        """Everything about a search but the texts it read."""
        request, result, found = searched.request, searched.result, searched.found
        read = {hit.note.note_id for hit in result.hits}
        first = searched.ordered.hits[: request.limit]
        hits = [*(hit for hit in first if hit.shown.note_id in read), *searched.ordered.hits[request.limit :]]
        shown = {hit.shown.note_id: hit.shown for hit in first}
        return Trace(
            trace_id=result.trace_id,
            search_id=result.search_id,
            tenant=request.where.tenant,
            principal=request.principal.name,
            query=request.query if self.with_queries else None,
            request={
                "tool": request.tool,
                "limit": request.limit,
                "mode": request.mode.value,
                "max_chars": request.max_chars,
                "selection": filter_as_json(request.where),
            },
            outcome={
                "hits": len(result.hits),
                "degraded": list(result.degraded),
                "reason": result.reason.value if result.reason else None,
                "fusion": searched.fusion.value,
                "floor": searched.floor,
                "wanted": found.wanted,
                "embedding_version": result.model.version,
            },
            timings=dict(searched.milliseconds),
            candidates=trace_candidates(
                searched.ranked,
                hits,
                limit=request.limit,
                floor=searched.floor,
                rerank_scores=searched.ordered.scores,
                dropped=found.dropped,
            ),
            items=tuple(
                _item(hit, place, result.trace_id, shown[hit.note.note_id]) for place, hit in enumerate(result.hits, 1)
            ),
            created_at=self.clock.now(),
        )


def _item(hit: Hit, place: int, trace_id: UUID, one: Ranked) -> TraceItem:
    seen = one.candidate
    return TraceItem(
        item_id=hit.item_id,
        trace_id=trace_id,
        rank=place,
        note_id=hit.note.note_id,
        chunk_id=chunk_uuid(hit.note.note_id, seen.chunk_index, seen.content_hash),
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
