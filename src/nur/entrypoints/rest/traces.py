"""Traces: what became of every candidate of a search, and why an item was returned."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from nur.domain import traces
from nur.domain.errors import NotFound
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered
from nur.entrypoints.rest.problems import documented
from nur.retrieval.ranking.rank import Ranked
from nur.services.search.explain import Explained, NoteExplained

searches_router = APIRouter(prefix="/v2/searches", tags=["searches"])
admin_router = APIRouter(prefix="/v2/admin", tags=["admin"])


class TraceItemOut(BaseModel):
    """One item of an answer, with its scores a stage."""

    item_id: UUID
    trace_id: UUID
    rank: int = Field(description="place in the answer, from 1")
    note_id: str | None = Field(description="as the search named it")
    chunk_id: str | None = Field(description="as the search named it; the note's own id for a whole note")
    scores: dict[str, Any] = Field(description="score, lexical, cosine, bonus, rrf_score, rerank_score, ranks")

    @classmethod
    def of(cls, item: traces.TraceItem) -> Self:
        """The item as it was traced."""
        return cls(
            item_id=item.item_id,
            trace_id=item.trace_id,
            rank=item.rank,
            note_id=item.public_id,
            chunk_id=item.public_chunk_id,
            scores=dict(item.scores),
        )


class ExplainedItem(TraceItemOut):
    """Why one item was returned at its place."""

    chunk_index: int | None = None
    outcome: str | None = Field(default=None, examples=["returned"])
    why: str | None = Field(default=None, description="in a sentence")

    @classmethod
    def explained(cls, item: traces.TraceItem, note: NoteExplained | None) -> Self:
        """The item, and what became of its note; None once the trace's candidates are gone."""
        shown = cls.of(item)
        if note is None:
            return shown
        chunk = note.candidates[0].chunk_index if note.candidates else None
        words = {"chunk_index": chunk, "outcome": str(note.outcome), "why": note.why}
        return shown.model_copy(update=words)


class Explanation(BaseModel):
    """What became of a search's candidates: ids and numbers, no texts."""

    search_id: UUID
    trace_id: UUID
    created_at: str
    query: str | None = Field(description="null where queries are kept out of traces")
    request: dict[str, Any]
    outcome: dict[str, Any]
    timings: dict[str, float] = Field(description="milliseconds by stage")
    items: list[dict[str, Any]]
    candidates: list[dict[str, Any]] = Field(description="best first, each with its scores and its outcome")
    note: dict[str, Any] | None = Field(default=None, description="what became of the note that was asked about")


class TraceOut(BaseModel):
    """Everything about one search but the texts it read."""

    trace_id: UUID
    search_id: UUID
    query: str | None = Field(description="null where queries are kept out of traces")
    request: dict[str, Any]
    outcome: dict[str, Any]
    timings: dict[str, float] = Field(description="milliseconds by stage")
    candidates: list[dict[str, Any]] = Field(description="best first, each with its scores and its outcome")
    items: list[TraceItemOut]
    created_at: datetime

    @classmethod
    def of(cls, trace: traces.Trace) -> Self:
        """The trace as it was kept."""
        return cls(
            trace_id=trace.trace_id,
            search_id=trace.search_id,
            query=trace.query,
            request=dict(trace.request),
            outcome=dict(trace.outcome),
            timings=dict(trace.timings),
            candidates=[
                {name: value for name, value in one._asdict().items() if value is not None} for one in trace.candidates
            ],
            items=[TraceItemOut.of(item) for item in trace.items],
            created_at=trace.created_at,
        )


@searches_router.get("/{search_id}/explain", response_model=Explanation, responses=documented(404))
async def explain_search(
    search_id: UUID,
    services: OpenServices,
    caller: CurrentCaller,
    note: Annotated[str | None, Query(max_length=400, description="what became of this note")] = None,
) -> Response:
    """What became of every candidate of a search, and of one note; by a search's id or its trace's."""
    return answered(Explanation.model_validate(_as_json(await services.explain(search_id, caller, note))))


@admin_router.get("/traces/{trace_id}", response_model=TraceOut, responses=documented(404))
async def get_trace(trace_id: UUID, services: OpenServices, caller: CurrentCaller) -> Response:
    """Every candidate of a search, and why it was kept or dropped."""
    found = await services.search_log.find(trace_id, caller)
    if found is None:
        raise NotFound(f"Trace {trace_id} not found")
    return answered(TraceOut.of(found))


@admin_router.get("/trace-items/{item_id}", response_model=ExplainedItem, responses=documented(404))
async def get_trace_item(item_id: UUID, services: OpenServices, caller: CurrentCaller) -> Response:
    """One item of an answer, with its chunk, its scores a stage, its ranks, and why it stands at its place."""
    item = await services.search_log.find_item(item_id, caller)
    if item is None:
        raise NotFound(f"Trace item {item_id} not found")
    explained = await services.explain(item.trace_id, caller, item.public_id)
    return answered(ExplainedItem.explained(item, explained.note))


def _as_json(explained: Explained) -> dict[str, Any]:
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


def _item(item: traces.TraceItem) -> dict[str, Any]:
    names = {"note_id": item.public_id, "chunk_id": item.public_chunk_id}
    return {"item_id": str(item.item_id), "rank": item.rank, **names, **item.scores}


def _candidate(one: traces.TracedCandidate) -> dict[str, Any]:
    return {name: value for name, value in one._asdict().items() if value is not None}


def _note(note: NoteExplained) -> dict[str, Any]:
    return {
        "id": note.public_id,
        "outcome": str(note.outcome),
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
