"""Traces: the record of one search, with every candidate and why it was kept or dropped."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from nur.domain.filters import NoteFilter
from nur.domain.notes import ChunkKey, Kind, NoteId

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID


class CandidateOutcome(StrEnum):
    """Why a candidate was kept or dropped."""

    RETURNED = "returned"
    NOT_VISIBLE = "not_visible"  #: a ranker found it, but it is deleted, expired, filtered out or hidden
    BELOW_FLOOR = "below_floor"  #: its score is below the model's relevance floor
    SAME_NOTE = "same_note"  #: a better chunk of the same note is shown
    COLLAPSED = "collapsed"  #: a duplicate note is shown instead
    BEYOND_LIMIT = "beyond_limit"  #: ranked below the requested number of hits


class TracedCandidate(NamedTuple):
    """A chunk that a ranker found, and its outcome.

    A tuple, because a search has hundreds and they are serialised as they are.
    """

    chunk_key: ChunkKey
    outcome: CandidateOutcome
    public_id: str | None = None  #: this and all following fields are None if the chunk is not visible
    chunk_index: int | None = None
    place: int | None = None  #: rank from 1 among returned hits, or among all notes if cut by the limit
    instead: str | None = None  #: public id of the note that is shown instead
    score: float | None = None
    lexical: float | None = None
    cosine: float | None = None
    bonus: float | None = None
    rrf_score: float | None = None
    rerank_score: float | None = None
    ranks: Mapping[str, int] | None = None  #: by ranker, from 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceItem:
    """One hit that was returned."""

    item_id: UUID
    trace_id: UUID
    rank: int  #: from 1
    note_id: NoteId
    chunk_id: UUID
    chunk_key: ChunkKey
    passages: Sequence[tuple[int, int, float]]  #: (start, end, score), offsets in the note's text
    duplicates: Sequence[str]  #: public ids of notes with the same content
    scores: Mapping[str, Any]  #: score, lexical, cosine, bonus, rrf_score, rerank_score, ranks
    public_id: str | None  #: the note's public id at the time of the search; None in older traces
    public_chunk_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Everything about one search except the texts it read."""

    trace_id: UUID
    search_id: UUID
    tenant: str
    principal: str
    query: str | None  #: None if traces do not store queries
    request: Mapping[str, Any]  #: limit, mode, tool and filter
    outcome: Mapping[str, Any]  #: degraded, reason, floor, fusion, candidates per ranker, embedding version
    timings: Mapping[str, float]  #: milliseconds by stage
    candidates: tuple[TracedCandidate, ...]  #: best first; those not visible come last
    items: tuple[TraceItem, ...]  #: in answer order
    created_at: datetime


def filter_as_json(where: NoteFilter) -> dict[str, Any]:
    """Return the filter's conditions as JSON values, without those that are None."""
    values: dict[str, Any] = {"kinds": sorted(where.kinds)}
    for field in fields(where):
        value = getattr(where, field.name)
        if field.name != "kinds" and value is not None:
            values[field.name] = value.isoformat() if isinstance(value, datetime) else value
    return values


def filter_from_json(values: Mapping[str, Any]) -> NoteFilter:
    """Read a filter that `filter_as_json` wrote."""
    times = {name: datetime.fromisoformat(values[name]) for name in ("occurred_from", "occurred_to") if name in values}
    return NoteFilter(**{**values, **times, "kinds": frozenset(Kind(kind) for kind in values["kinds"])})


def as_of(trace: Trace) -> datetime | None:
    """Return the `as_of` time of the search; None if it searched everything."""
    stored = trace.request.get("as_of")
    return None if stored is None else datetime.fromisoformat(stored)
