"""Trace routes: every candidate of a search, and why it was returned or dropped."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from nur.domain import traces
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered
from nur.entrypoints.rest.problems import documented
from nur.retrieval.ranking.rank import Ranked
from nur.services.search.explain import Explained, ItemExplained, NoteExplained

searches_router = APIRouter(prefix="/v2/searches", tags=["searches"])
admin_router = APIRouter(prefix="/v2/admin", tags=["admin"])


class TraceItemOut(BaseModel):
    """One item of a result, with its scores per stage."""

    item_id: UUID
    trace_id: UUID
    rank: int = Field(description="rank in the result, from 1")
    note_id: str | None = Field(description="id at the time of the search")
    chunk_id: str | None = Field(description="id at the time of the search; the note's own id if it has one chunk")
    scores: dict[str, Any] = Field(description="score, lexical, cosine, bonus, rrf_score, rerank_score, ranks")

    @classmethod
    def of(cls, item: traces.TraceItem) -> Self:
        """Build it from the traced item."""
        return cls(
            item_id=item.item_id,
            trace_id=item.trace_id,
            rank=item.rank,
            note_id=item.public_id,
            chunk_id=item.public_chunk_id,
            scores=dict(item.scores),
        )


class ExplainedItem(TraceItemOut):
    """One item of a result, and why it has its rank."""

    chunk_index: int | None = None
    outcome: str | None = Field(default=None, examples=["returned"])
    why: str | None = Field(default=None, description="in a sentence")

    @classmethod
    def explained(cls, explained: ItemExplained) -> Self:
        """Build it from the service's result."""
        item, note = cls.of(explained.item), explained.note
        if note is None:
            return item
        chunk = note.candidates[0].chunk_index if note.candidates else None
        return item.model_copy(update={"chunk_index": chunk, "outcome": str(note.outcome), "why": note.why})


class Explanation(BaseModel):
    """The outcome of every candidate of a search: ids and numbers, no texts."""

    search_id: UUID
    trace_id: UUID
    created_at: str
    query: str | None = Field(description="null if traces do not store queries")
    request: dict[str, Any]
    outcome: dict[str, Any]
    timings: dict[str, float] = Field(description="milliseconds by stage")
    items: list[dict[str, Any]]
    candidates: list[dict[str, Any]] = Field(description="best first, each with its scores and its outcome")
    note: dict[str, Any] | None = Field(default=None, description="the outcome of the requested note")


class TraceOut(BaseModel):
    """Everything about one search except the texts it read."""

    trace_id: UUID
    search_id: UUID
    query: str | None = Field(description="null if traces do not store queries")
    request: dict[str, Any]
    outcome: dict[str, Any]
    timings: dict[str, float] = Field(description="milliseconds by stage")
    candidates: list[dict[str, Any]] = Field(description="best first, each with its scores and its outcome")
    items: list[TraceItemOut]
    created_at: datetime

    @classmethod
    def of(cls, trace: traces.Trace) -> Self:
        """Build it from the stored trace."""
        return cls(
            trace_id=trace.trace_id,
            search_id=trace.search_id,
            query=trace.query,
            request=dict(trace.request),
            outcome=dict(trace.outcome),
            timings=dict(trace.timings),
            candidates=[_candidate(one) for one in trace.candidates],
            items=[TraceItemOut.of(item) for item in trace.items],
            created_at=trace.created_at,
        )


@searches_router.get("/{search_id}/explain", response_model=Explanation, responses=documented(404))
async def explain_search(
    search_id: UUID,
    services: OpenServices,
    caller: CurrentCaller,
    note: Annotated[str | None, Query(max_length=400, description="explain the outcome of this note")] = None,
) -> Response:
    """Explain the outcome of every candidate of a search, and of one note. Takes a search id or a trace id."""
    return answered(Explanation.model_validate(_as_json(await services.explain(search_id, caller, note))))


@admin_router.get("/traces/{trace_id}", response_model=TraceOut, responses=documented(404))
async def get_trace(trace_id: UUID, services: OpenServices, caller: CurrentCaller) -> Response:
    """Get every candidate of a search, and why it was kept or dropped."""
    return answered(TraceOut.of(await services.explain.trace(trace_id, caller)))


@admin_router.get("/trace-items/{item_id}", response_model=ExplainedItem, responses=documented(404))
async def get_trace_item(item_id: UUID, services: OpenServices, caller: CurrentCaller) -> Response:
    """Get one item of a result: its chunk, scores per stage, ranks, and why it has its rank."""
    return answered(ExplainedItem.explained(await services.explain.item(item_id, caller)))


def _as_json(explained: Explained) -> dict[str, Any]:
    """Return an explanation as JSON values."""
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
