"""Explain a search: why each hit was returned, and why another note was not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.errors import NotFound
from nur.domain.filters import matches
from nur.domain.notes import Status
from nur.domain.search import Mode, SearchRequest
from nur.domain.traces import CandidateOutcome, Trace, TracedCandidate, as_of, filter_from_json

if TYPE_CHECKING:
    from uuid import UUID

    from nur.domain.access import Caller
    from nur.domain.filters import PrivacyFilter
    from nur.domain.notes import Note
    from nur.domain.traces import TraceItem
    from nur.ports.clock import Clock
    from nur.ports.notes import NoteStore
    from nur.retrieval.ranking.rank import Ranked
    from nur.services.search.search import Search
    from nur.services.search.search_log import SearchLog


@dataclass(frozen=True, slots=True)
class NoteExplained:
    """The outcome of one note in a search."""

    public_id: str
    outcome: str  #: a CandidateOutcome, or `not_a_candidate`, `not_searched`, `deleted`, `unknown`
    why: str  #: one or two sentences
    candidates: tuple[TracedCandidate, ...] = ()  #: its chunks among the candidates
    now: Ranked | None = None  #: its best chunk scored now, where it was no candidate and the question is known


@dataclass(frozen=True, slots=True)
class Explained:
    """A search's trace, and the explanation of one note if requested."""

    trace: Trace
    note: NoteExplained | None = None


@dataclass(frozen=True, slots=True)
class ItemExplained:
    """One item of a search's result, and the outcome of its note."""

    item: TraceItem
    note: NoteExplained | None  #: None in older traces, which have no public ids


@dataclass(frozen=True, slots=True)
class Explain:
    """Explains searches from their traces."""

    notes: NoteStore
    search: Search
    search_log: SearchLog
    privacy: PrivacyFilter
    clock: Clock

    async def __call__(self, name: UUID, caller: Caller, public_id: str | None = None) -> Explained:
        """Explain a search, by search id or trace id, and the outcome of one note. Raises NotFound."""
        trace = await self.search_log.find(name, caller)
        if trace is None:
            raise NotFound(f"Search {name} not found: it is older than TRACE_RETENTION_DAYS, or of another store.")
        return Explained(trace, None if public_id is None else await self._note(trace, caller, public_id))

    async def trace(self, trace_id: UUID, caller: Caller) -> Trace:
        """Return a trace, by its own id or its search's. Raises NotFound."""
        trace = await self.search_log.find(trace_id, caller)
        if trace is None:
            raise NotFound(f"Trace {trace_id} not found")
        return trace

    async def item(self, item_id: UUID, caller: Caller) -> ItemExplained:
        """Explain one item of a search's result. Raises NotFound."""
        item = await self.search_log.find_item(item_id, caller)
        trace = None if item is None else await self.search_log.find(item.trace_id, caller)
        if item is None or trace is None:
            raise NotFound(f"Trace item {item_id} not found")
        named = item.public_id
        return ItemExplained(item, None if named is None else await self._note(trace, caller, named))

    async def _note(self, trace: Trace, caller: Caller, public_id: str) -> NoteExplained:
        own = tuple(one for one in trace.candidates if one.public_id == public_id)
        if own:
            best = own[0]
            return NoteExplained(public_id, best.outcome, _sentence(trace, best), own)
        note = await self.notes.get(caller.tenant, public_id)
        if note is None or not self.privacy.can_access(note, caller.principal):
            return NoteExplained(public_id, "unknown", "There is no such note.")
        if note.status is Status.DELETED:
            return NoteExplained(public_id, "deleted", "The note is in the trash: nothing finds it.")
        request = _request(trace, caller)
        if not matches(note, request.where, self.clock.now()):
            return NoteExplained(public_id, "not_searched", _outside(note, request))
        return await self._not_found(trace, request, note)

    async def _not_found(self, trace: Trace, request: SearchRequest, note: Note) -> NoteExplained:
        """The note could have been found and was not: say how it would score."""
        why = f"Not among the candidates: no ranker had it among its best {trace.outcome['wanted']}."
        if trace.query is None:
            why += " The question was kept out of the trace, so it cannot be scored now."
            return NoteExplained(note.public_id, "not_a_candidate", why)
        ranked = self.search.ranked(request, await self.search.retrieve.one_note(request, note))
        if not ranked:
            return NoteExplained(note.public_id, "not_a_candidate", why)
        why += f" Scored now it has {ranked[0].score:.4f}{_against(trace)}."
        if note.updated_at > trace.created_at:
            why += " It was stored or changed after the search."
        return NoteExplained(note.public_id, "not_a_candidate", why, now=ranked[0])


def weakest_shown(trace: Trace) -> float | None:
    """The lowest score among the hits of a search."""
    shown = [
        one.score for one in trace.candidates if one.outcome is CandidateOutcome.RETURNED and one.score is not None
    ]
    return min(shown, default=None)


def _sentence(trace: Trace, one: TracedCandidate) -> str:
    if one.outcome is CandidateOutcome.RETURNED:
        return f"Returned at place {one.place}: {_sum(one)}.{_newer(trace, one)}"
    if one.outcome is CandidateOutcome.BELOW_FLOOR:
        return f"Below the relevance floor of {trace.outcome['floor']}: {_sum(one)}."
    if one.outcome is CandidateOutcome.COLLAPSED:
        return f"Says the same as {one.instead}, which is shown instead: {_sum(one)}."
    return f"Found at place {one.place}, but {trace.request['limit']} were asked for: {_sum(one)}{_against(trace)}."


def _newer(trace: Trace, one: TracedCandidate) -> str:
    """Which notes it stands before or behind because of their age."""
    why = {"decided": "somebody decided so", "value": "a newer value", "update": "it reports a change"}
    moves = trace.outcome.get("newer", ())
    behind = [f" Behind {newer}: {why[rule]}." for newer, older, rule in moves if older == one.public_id]
    before = [f" Before {older}: {why[rule]}." for newer, older, rule in moves if newer == one.public_id]
    return "".join([*before, *behind])


def _sum(one: TracedCandidate) -> str:
    parts = [f"words {one.lexical or 0:.4f}"]
    if one.cosine is not None:
        parts.append(f"cosine {one.cosine:.4f}")
    if one.bonus:
        parts.append(f"context {one.bonus:+.4f}")
    if one.rerank_score is not None:
        parts.append(f"reranker {one.rerank_score:.4f}")
    return f"score {one.score or 0:.4f} ({', '.join(parts)})"


def _against(trace: Trace) -> str:
    weakest = weakest_shown(trace)
    return "" if weakest is None else f"; the weakest hit shown had {weakest:.4f}"


def _outside(note: Note, request: SearchRequest) -> str:
    if note.kind not in request.where.kinds:
        searched = ", ".join(sorted(request.where.kinds))
        return f"The note is a {note.kind}; the search looked at {searched} only."
    return "The note is outside what was searched: it has expired, or the search's filters leave it out."


def _request(trace: Trace, caller: Caller) -> SearchRequest:
    return SearchRequest(
        when=trace.request.get("when"),
        as_of=as_of(trace),
        asked_at=trace.created_at,
        query=trace.query or "",
        caller=caller,
        where=filter_from_json(trace.request["selection"]),
        limit=trace.request["limit"],
        mode=Mode(trace.request["mode"]),
        tool="explain",
    )
