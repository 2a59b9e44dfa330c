"""SqlSearchLog: traces of searches and the results that were opened.

A trace is one row. Its candidates are compressed JSON: one list of values per candidate under one list of names.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, or_, select

from nur.adapters.sql.filters import one_of
from nur.adapters.sql.tables import memory_hits, memory_notes, search_trace_items, search_traces
from nur.domain.notes import ChunkKey, NoteId
from nur.domain.traces import CandidateOutcome, Trace, TracedCandidate, TraceItem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import Connection, Row

    from nur.adapters.sql.runner import Runner
    from nur.ports.search_log import HitRecord

_traces = search_traces.c
_items = search_trace_items.c
_notes = memory_notes.c

_FAST = 1  #: zlib's fastest level: 10 % larger than the default, in a third of the time


@dataclass(frozen=True, slots=True)
class SqlSearchLog:
    """Traces in two tables, opened results in a third."""

    run: Runner

    async def save(self, traces: Sequence[Trace]) -> None:
        """Store traces; an existing one stays unchanged."""
        await self.run.write(_save, traces)

    async def trace(self, tenant: str, name: UUID) -> Trace | None:
        """A trace by its own id or its search's id."""
        return await self.run.read(_trace, tenant, name)

    async def item(self, tenant: str, item_id: UUID) -> TraceItem | None:
        """One hit of a trace."""
        return await self.run.read(_item, tenant, item_id)

    async def record_hits(self, hits: Sequence[HitRecord], now: datetime) -> None:
        """Record opened results, except those of notes that no longer exist."""
        await self.run.write(_record_hits, hits, now)

    async def purge(self, before: datetime) -> int:
        """Delete traces made before then and return how many."""
        return await self.run.write(_purge, before)


def _save(connection: Connection, traces: Sequence[Trace]) -> None:
    ids = [trace.trace_id for trace in traces]
    known = select(_traces.trace_id).where(one_of(connection, _traces.trace_id, ids))
    existing = set(connection.execute(known).scalars())
    new = [trace for trace in traces if trace.trace_id not in existing]
    if new:
        connection.execute(insert(search_traces), [_trace_values(trace) for trace in new])
    items = [_item_values(item) for trace in new for item in trace.items]
    if items:
        connection.execute(insert(search_trace_items), items)


def _trace(connection: Connection, tenant: str, name: UUID) -> Trace | None:
    named = or_(_traces.trace_id == name, _traces.search_id == name)
    row = connection.execute(select(search_traces).where(_traces.tenant_id == tenant, named)).first()
    if row is None:
        return None
    items = connection.execute(select(search_trace_items).where(_items.trace_id == row.trace_id).order_by(_items.rank))
    return _to_trace(row, tuple(_to_item(item) for item in items))


def _item(connection: Connection, tenant: str, item_id: UUID) -> TraceItem | None:
    query = (
        select(search_trace_items)
        .join(search_traces, _traces.trace_id == _items.trace_id)
        .where(_items.item_id == item_id, _traces.tenant_id == tenant)
    )
    row = connection.execute(query).first()
    return None if row is None else _to_item(row)


def _record_hits(connection: Connection, hits: Sequence[HitRecord], now: datetime) -> None:
    stored = select(_notes.note_id).where(_notes.note_id.in_([hit.note_id for hit in hits]))
    existing = set(connection.execute(stored).scalars())
    rows = [
        {
            "tenant_id": hit.tenant,
            "principal": hit.principal,
            "search_id": hit.search_id,
            "note_id": hit.note_id,
            "chunk_id": hit.chunk_id,
            "rank": hit.rank,
            "created_at": now,
        }
        for hit in hits
        if hit.note_id in existing
    ]
    if rows:
        connection.execute(insert(memory_hits), rows)


def _purge(connection: Connection, before: datetime) -> int:
    return connection.execute(delete(search_traces).where(_traces.created_at < before)).rowcount


def forget_note(connection: Connection, note_id: NoteId) -> None:
    """Delete the traces of searches that returned this note, with their questions and items."""
    returned = select(_items.trace_id).where(_items.note_id == note_id)
    connection.execute(delete(search_traces).where(_traces.trace_id.in_(returned)))


def _trace_values(trace: Trace) -> dict[str, Any]:
    return {
        "trace_id": trace.trace_id,
        "search_id": trace.search_id,
        "tenant_id": trace.tenant,
        "principal": trace.principal,
        "query": trace.query,
        "request": dict(trace.request),
        "timings": dict(trace.timings),
        "candidates": encode(trace.outcome, trace.candidates),
        "created_at": trace.created_at,
    }


def _item_values(item: TraceItem) -> dict[str, Any]:
    return {
        "item_id": item.item_id,
        "trace_id": item.trace_id,
        "rank": item.rank,
        "note_id": item.note_id,
        "chunk_id": item.chunk_id,
        "chunk_key": item.chunk_key,
        "scores": dict(item.scores),
        "passages": [list(passage) for passage in item.passages],
        "duplicates": list(item.duplicates),
        "public_id": item.public_id,
        "public_chunk_id": item.public_chunk_id,
    }


def _to_trace(row: Row[*tuple[Any, ...]], items: tuple[TraceItem, ...]) -> Trace:
    outcome, candidates = decode(row.candidates)
    return Trace(
        trace_id=row.trace_id,
        search_id=row.search_id,
        tenant=row.tenant_id,
        principal=row.principal,
        query=row.query,
        request=row.request,
        outcome=outcome,
        timings=row.timings,
        candidates=candidates,
        items=items,
        created_at=row.created_at,
    )


def _to_item(row: Row[*tuple[Any, ...]]) -> TraceItem:
    return TraceItem(
        item_id=row.item_id,
        trace_id=row.trace_id,
        rank=row.rank,
        note_id=NoteId(row.note_id),
        chunk_id=row.chunk_id,
        chunk_key=ChunkKey(row.chunk_key),
        passages=[(start, end, score) for start, end, score in row.passages],
        duplicates=row.duplicates,
        public_id=row.public_id,
        public_chunk_id=row.public_chunk_id,
        scores=row.scores,
    )


def encode(outcome: Mapping[str, Any], candidates: Sequence[TracedCandidate]) -> bytes:
    """The outcome and candidates of a search, compressed."""
    kept = {"outcome": dict(outcome), "names": TracedCandidate._fields, "rows": candidates}
    return zlib.compress(json.dumps(kept, separators=(",", ":"), check_circular=False).encode(), _FAST)


def decode(blob: bytes) -> tuple[dict[str, Any], tuple[TracedCandidate, ...]]:
    """The inverse of `encode`."""
    kept = json.loads(zlib.decompress(blob))
    return kept["outcome"], tuple(_candidate(dict(zip(kept["names"], row, strict=True))) for row in kept["rows"])


def _candidate(values: dict[str, Any]) -> TracedCandidate:
    outcome = values.pop("verdict", None) or values["outcome"]  # the name in older traces
    return TracedCandidate(**{**values, "outcome": CandidateOutcome(outcome)})
