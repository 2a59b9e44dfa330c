"""Repeat a search from its log, and open notes from its answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nur.domain.embedding import EmbeddingModel
from nur.domain.errors import NotFound
from nur.domain.search import EmptyReason, Hit, Newer, Passage, Payload, Quote, SearchResult
from nur.domain.traces import as_of, filter_from_json
from nur.ports.search_log import HitRecord
from nur.retrieval.times.find import with_times
from nur.services.search.extract_passages import chunk_id_of, with_neighbours

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from nur.domain.access import Caller
    from nur.domain.filters import PrivacyFilter
    from nur.domain.notes import Note
    from nur.domain.times import Zone
    from nur.domain.traces import Trace, TraceItem
    from nur.ports.chunks import ChunkStore, ChunkWithNote
    from nur.ports.clock import Clock
    from nur.ports.notes import NoteStore
    from nur.ports.search_log import SearchLogStore
    from nur.services.search.search_log import SearchLog


@dataclass(frozen=True, slots=True)
class RepeatedSearch:
    """A search's answer as far as it may still be shown."""

    result: SearchResult
    payload: Payload
    dropped: int  #: hits that are deleted, changed or hidden now


@dataclass(frozen=True, slots=True)
class OpenedNotes:
    """Full notes from an answer."""

    notes: Sequence[tuple[Note, str]]
    missing: Sequence[str]  #: ids that the answer does not contain


@dataclass(frozen=True, slots=True)
class RepeatSearch:
    """Reads an answer back: ids and offsets from the log, texts from the store."""

    search_log: SearchLog
    store: SearchLogStore
    chunks: ChunkStore
    notes: NoteStore
    privacy: PrivacyFilter
    clock: Clock
    zone: Zone

    async def __call__(self, search_id: UUID, caller: Caller) -> RepeatedSearch:
        """The same answer, without what may no longer be shown. Raises NotFound."""
        trace = await self.search_log.session(caller.tenant, search_id)
        if trace is None or trace.principal != caller.principal.name:
            raise NotFound(f"Search {search_id} not found")
        read, texts = await self._hits(trace, caller)
        outcome = trace.outcome
        hits = _marked(with_times(read, self.zone), outcome)
        result = SearchResult(
            hits=tuple(hits),
            search_id=trace.search_id,
            trace_id=trace.trace_id,
            model=EmbeddingModel.parse(outcome["embedding_version"]),
            degraded=tuple(outcome["degraded"]),
            reason=None if outcome["reason"] is None else EmptyReason(outcome["reason"]),
            notice=outcome["notice"],
            confidence=outcome["confidence"],
            conflicts=_conflicts(outcome, texts),
        )
        return RepeatedSearch(result, Payload(trace.request["payload"]), len(trace.items) - len(hits))

    async def open_notes(self, search_id: UUID, wanted: Sequence[str], caller: Caller) -> OpenedNotes:
        """Full notes from an answer, by note or chunk id; each is recorded as opened. Raises NotFound."""
        hits = (await self(search_id, caller)).result.hits
        ranks = {name: rank for rank, hit in enumerate(hits, 1) for name in (hit.chunk_id, hit.note.public_id)}
        chosen = sorted({ranks[name] for name in wanted if name in ranks}, key=[ranks.get(n) for n in wanted].index)
        texts = await self.notes.texts([hits[rank - 1].note.note_id for rank in chosen])
        opened = [(rank, hits[rank - 1]) for rank in chosen if hits[rank - 1].note.note_id in texts]
        records = [
            HitRecord(caller.tenant, caller.principal.name, search_id, hit.note.note_id, None, rank)
            for rank, hit in opened
        ]
        await self.store.record_hits(records, self.clock.now())
        notes = [(hit.note, texts[hit.note.note_id]) for _, hit in opened]
        return OpenedNotes(notes, [name for name in wanted if name not in ranks])

    async def _hits(self, trace: Trace, caller: Caller) -> tuple[list[Hit], Mapping[str, str]]:
        """The hits as far as they are unchanged, and the texts of their notes."""
        where = self.privacy.visible(filter_from_json(trace.request["selection"]), caller.principal)
        wanted = {item.chunk_key: item.note_id for item in trace.items}
        expand = trace.request["expand_neighbors"]
        read = await self.chunks.show(wanted, where, self.clock.now(), with_neighbours=expand, with_texts=True)
        moment = as_of(trace)
        unchanged = {
            key: one
            for key, one in read.items()
            if one.stored.chunk_key == key and not (moment is not None and one.note.changed_since(moment))
        }
        hits = [_hit(item, one, trace) for item in trace.items if (one := unchanged.get(item.chunk_key)) is not None]
        texts = {one.note.public_id: one.text or "" for one in unchanged.values()}
        return with_neighbours(hits, unchanged, trace.request["max_chars"]) if expand else hits, texts


def _marked(hits: Sequence[Hit], outcome: Mapping[str, Any]) -> list[Hit]:
    """The hits, each with the one that holds instead, where that is shown too."""
    shown = {hit.note.public_id for hit in hits}
    moves = [Newer(newer, rule) if newer in shown else None for newer, _, rule in outcome.get("newer", ())]
    newer = {older: move for (_, older, _), move in zip(outcome.get("newer", ()), moves, strict=True)}
    return [replace(hit, newer=newer.get(hit.note.public_id)) for hit in hits]


def _conflicts(outcome: Mapping[str, Any], texts: Mapping[str, str]) -> tuple[tuple[Quote, Quote], ...]:
    """What disagrees, where both notes are shown as they were."""
    pairs = [
        tuple(Quote(name, texts[name][start:end], start, end) for name, start, end in pair if name in texts)
        for pair in outcome.get("conflicts", ())
    ]
    return tuple((pair[0], pair[1]) for pair in pairs if len(pair) == 2)  # a pair


def _hit(item: TraceItem, read: ChunkWithNote, trace: Trace) -> Hit:
    text = read.text or ""
    return Hit(
        note=read.note,
        chunk_key=item.chunk_key,
        chunk_id=chunk_id_of(read),
        chunk=read.stored.chunk,
        score=item.scores["score"],
        rrf_score=item.scores["rrf_score"],
        ranks=item.scores["ranks"],
        passages=tuple(Passage(text[start:end], start, end, score) for start, end, score in item.passages),
        item_id=item.item_id,
        rerank_score=item.scores["rerank_score"],
        duplicates=tuple(item.duplicates),
        text=text if trace.request["payload"] == Payload.TEXTS else None,
    )
