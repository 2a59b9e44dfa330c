"""Traces: how a search came to its answer, candidate by candidate."""

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
    BELOW_FLOOR = "below_floor"  #: no answer, by the model's own measure
    SAME_NOTE = "same_note"  #: a better chunk of the same note stands for it
    COLLAPSED = "collapsed"  #: another note says the same and is shown instead
    BEYOND_LIMIT = "beyond_limit"  #: good, but others were better and no more were asked for


class TracedCandidate(NamedTuple):
    """A chunk that a ranker found, and what became of it.

    A tuple, for there are hundreds in a search, and written as they are.
    """

    chunk_key: ChunkKey
    outcome: CandidateOutcome
    public_id: str | None = None  #: None, like all that follows, for what is not visible
    chunk_index: int | None = None
    place: int | None = None  #: among the hits, from 1; among what could have been one, where it was cut
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
    passages: Sequence[tuple[int, int, float]]  #: start and end in the note's text, score
    duplicates: Sequence[str]  #: public ids of notes that say the same
    scores: Mapping[str, Any]  #: score, lexical, cosine, bonus, rrf_score, rerank_score, ranks
    public_id: str | None  #: of the note, as the search named it; None in traces that do not have it
    public_chunk_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Everything about one search but the texts it read."""

    trace_id: UUID
    search_id: UUID
    tenant: str
    principal: str
    query: str | None  #: None where queries are kept out of traces
    request: Mapping[str, Any]  #: limit, mode, tool, and the selection
    outcome: Mapping[str, Any]  #: degraded, reason, floor, fusion, candidates asked of each ranker, embedding version
    timings: Mapping[str, float]  #: milliseconds by stage
    candidates: tuple[TracedCandidate, ...]  #: best first, those not visible at the end
    items: tuple[TraceItem, ...]  #: in the order of the answer
    created_at: datetime


def filter_as_json(where: NoteFilter) -> dict[str, Any]:
    """What a selection asks, without what it does not ask."""
    asked: dict[str, Any] = {"kinds": sorted(where.kinds)}
    for each in fields(where):
        value = getattr(where, each.name)
        if each.name != "kinds" and value is not None:
            asked[each.name] = value.isoformat() if isinstance(value, datetime) else value
    return asked


def filter_from_json(asked: Mapping[str, Any]) -> NoteFilter:
    """The selection that was written down."""
    times = {name: datetime.fromisoformat(asked[name]) for name in ("occurred_from", "occurred_to") if name in asked}
    return NoteFilter(**{**asked, **times, "kinds": frozenset(Kind(kind) for kind in asked["kinds"])})


def as_of(trace: Trace) -> datetime | None:
    """The moment that the search asked about; None: it asked about everything."""
    asked = trace.request.get("as_of")
    return None if asked is None else datetime.fromisoformat(asked)
