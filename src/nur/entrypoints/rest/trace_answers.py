"""What the trace routes answer."""

from datetime import datetime
from typing import Any, Self
from uuid import UUID

from pydantic import BaseModel, Field

from nur.domain import traces
from nur.services.search.explain import NoteExplained


class TraceItem(BaseModel):
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


class ExplainedItem(TraceItem):
    """Why one item was returned at its place."""

    chunk_index: int | None = None
    verdict: str | None = Field(default=None, examples=["returned"])
    why: str | None = Field(default=None, description="in a sentence")

    @classmethod
    def explained(cls, item: traces.TraceItem, note: NoteExplained | None) -> Self:
        """The item, and what became of its note; None once the trace's candidates are gone."""
        shown = cls.of(item)
        if note is None:
            return shown
        chunk = note.candidates[0].chunk_index if note.candidates else None
        words = {"chunk_index": chunk, "verdict": str(note.verdict), "why": note.why}
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
    candidates: list[dict[str, Any]] = Field(description="best first, each with its scores and its verdict")
    note: dict[str, Any] | None = Field(default=None, description="what became of the note that was asked about")


class Trace(BaseModel):
    """Everything about one search but the texts it read."""

    trace_id: UUID
    search_id: UUID
    query: str | None = Field(description="null where queries are kept out of traces")
    request: dict[str, Any]
    outcome: dict[str, Any]
    timings: dict[str, float] = Field(description="milliseconds by stage")
    candidates: list[dict[str, Any]] = Field(description="best first, each with its scores and its verdict")
    items: list[TraceItem]
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
            items=[TraceItem.of(item) for item in trace.items],
            created_at=trace.created_at,
        )
