"""What became of a search's candidates, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nur.domain.traces import TracedCandidate, TraceItem
    from nur.retrieval.ranking.rank import Ranked
    from nur.services.search.explain import Explained, NoteExplained


def as_json(explained: Explained) -> dict[str, Any]:
    """An explanation as plain values."""
    trace = explained.trace
    return {
        "search_id": str(trace.search_id),
        "trace_id": str(trace.trace_id),
        "created_at": trace.created_at.isoformat().replace("+00:00", "Z"),
        "query": trace.query,
        "request": dict(trace.request),
        "outcome": dict(trace.outcome),
        "timings": dict(trace.timings),
        "items": [_item(item) for item in trace.items],
        "candidates": [_candidate(one) for one in trace.candidates],
        **({} if explained.note is None else {"note": _note(explained.note)}),
    }


def _item(item: TraceItem) -> dict[str, Any]:
    names = {"note_id": item.public_id, "chunk_id": item.public_chunk_id}
    return {"item_id": str(item.item_id), "rank": item.rank, **names, **item.scores}


def _candidate(one: TracedCandidate) -> dict[str, Any]:
    return {name: value for name, value in one._asdict().items() if value is not None}


def _note(note: NoteExplained) -> dict[str, Any]:
    return {
        "id": note.public_id,
        "verdict": str(note.verdict),
        "why": note.why,
        "candidates": [_candidate(one) for one in note.candidates],
        **({} if note.now is None else {"now": _scored(note.now)}),
    }


def _scored(one: Ranked) -> dict[str, Any]:
    return {
        "chunk_index": one.candidate.chunk_index,
        "score": one.score,
        "lexical": one.lexical,
        "cosine": one.cosine,
        "bonus": one.bonus,
    }
