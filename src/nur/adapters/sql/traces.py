"""Traces of searches: transaction bodies.

A trace is one row. Its candidates are compressed JSON, a list of values each under one list of names.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, or_, select

from nur.adapters.sql.tables import search_trace_items, search_traces
from nur.domain.notes import NoteId
from nur.domain.traces import CandidateOutcome, Trace, TracedCandidate, TraceItem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import Connection, Row

t = search_traces.c
i = search_trace_items.c

_FAST = 1  #: zlib's quickest level: a tenth larger than the default in a third of the time


def save(connection: Connection, traces: Sequence[Trace]) -> None:
    """Keep traces; one that is there already stays as it is."""
    ids = [trace.trace_id for trace in traces]
    existing = set(connection.execute(select(t.trace_id).where(t.trace_id.in_(ids))).scalars())
    new = [trace for trace in traces if trace.trace_id not in existing]
    if new:
        connection.execute(insert(search_traces), [_values(trace) for trace in new])
    items = [_item_values(item) for trace in new for item in trace.items]
    if items:
        connection.execute(insert(search_trace_items), items)


def by_id(connection: Connection, tenant: str, name: UUID) -> Trace | None:
    """A trace by its own id or by its search's."""
    query = select(search_traces).where(t.tenant_id == tenant, or_(t.trace_id == name, t.search_id == name))
    row = connection.execute(query).first()
    if row is None:
        return None
    items = connection.execute(select(search_trace_items).where(i.trace_id == row.trace_id).order_by(i.rank))
    return _to_trace(row, tuple(_to_item(item) for item in items))


def item(connection: Connection, tenant: str, item_id: UUID) -> TraceItem | None:
    """One hit of a trace."""
    query = (
        select(search_trace_items)
        .join(search_traces, t.trace_id == i.trace_id)
        .where(i.item_id == item_id, t.tenant_id == tenant)
    )
    row = connection.execute(query).first()
    return None if row is None else _to_item(row)


def purge(connection: Connection, before: datetime) -> int:
    """Let go of traces made before then; their items go with them."""
    return connection.execute(delete(search_traces).where(t.created_at < before)).rowcount


def forget_note(connection: Connection, note_id: NoteId) -> None:
    """Let go of the traces of searches that returned this note, with their questions; their items go with them."""
    returned = select(i.trace_id).where(i.note_id == note_id)
    connection.execute(delete(search_traces).where(t.trace_id.in_(returned)))


def _values(trace: Trace) -> dict[str, Any]:
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
        "scores": dict(item.scores),
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
        scores=row.scores,
        public_id=row.public_id,
        public_chunk_id=row.public_chunk_id,
    )


def encode(outcome: Mapping[str, Any], candidates: Sequence[TracedCandidate]) -> bytes:
    """What became of a search, compressed."""
    kept = {"outcome": dict(outcome), "names": TracedCandidate._fields, "rows": candidates}
    return zlib.compress(json.dumps(kept, separators=(",", ":"), check_circular=False).encode(), _FAST)


def decode(blob: bytes) -> tuple[dict[str, Any], tuple[TracedCandidate, ...]]:
    """What `encode` was given."""
    kept = json.loads(zlib.decompress(blob))
    return kept["outcome"], tuple(_candidate(dict(zip(kept["names"], row, strict=True))) for row in kept["rows"])


def _candidate(values: dict[str, Any]) -> TracedCandidate:
    return TracedCandidate(**{**values, "verdict": CandidateOutcome(values["verdict"])})
