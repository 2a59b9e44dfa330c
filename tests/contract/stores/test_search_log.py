"""Contract of SearchLogStore: traces are returned unchanged, and deleted with the notes they returned."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from nur.domain.notes import ChunkKey, NoteId
from nur.domain.traces import CandidateOutcome, Trace, TracedCandidate, TraceItem
from nur.ports.search_log import HitRecord
from tests.store_notes import START, a_note, at, store

if TYPE_CHECKING:
    from uuid import UUID

    from nur.ports.stores import Stores
    from tests.store_backends import StoreBackend

TENANT = "default"


def an_item(trace_id: UUID, rank: int, note_id: NoteId) -> TraceItem:
    return TraceItem(
        item_id=uuid4(),
        trace_id=trace_id,
        rank=rank,
        note_id=note_id,
        chunk_id=uuid4(),
        chunk_key=ChunkKey(2**40 + rank),
        passages=[(0, 12, 0.1 + 0.2), (20, 31, 0.25)],
        duplicates=["mem_2", "mem_3"] if rank == 1 else [],
        scores={"score": 0.5, "cosine": None, "ranks": {"dense": 1}},
        public_id="mem_1" if rank == 1 else None,
        public_chunk_id="mem_1::chunk::000::abcdef01" if rank == 1 else None,
    )


def a_trace(**changes: Any) -> Trace:
    trace_id, note_id = uuid4(), NoteId(uuid4())
    return Trace(
        **{
            "trace_id": trace_id,
            "search_id": uuid4(),
            "tenant": TENANT,
            "principal": "ann",
            "query": "when is tea drunk? ☕",
            "request": {"limit": 5, "selection": {"kinds": ["memory"]}},
            "outcome": {"degraded": [], "reason": None, "floor": 0.04},
            "timings": {"gather": 1.25},
            "candidates": (
                TracedCandidate(
                    chunk_key=ChunkKey(7),
                    outcome=CandidateOutcome.RETURNED,
                    public_id="mem_1",
                    chunk_index=0,
                    place=1,
                    score=0.5,
                    lexical=0.25,
                    cosine=0.5,
                    bonus=0.0,
                    rrf_score=0.016393,
                    rerank_score=-3.5,
                    ranks={"dense": 1, "lexical": 2},
                ),
                TracedCandidate(chunk_key=ChunkKey(2**40), outcome=CandidateOutcome.NOT_VISIBLE),
            ),
            "items": (an_item(trace_id, 1, note_id), an_item(trace_id, 2, note_id)),
            "created_at": START,
            **changes,
        }
    )


async def test_a_trace_comes_back_as_it_was_by_either_id(stores: Stores) -> None:
    trace, other = a_trace(), a_trace(query=None, candidates=(), items=())
    await stores.search_log.save([trace, other])
    for saved in (trace, other):
        assert await stores.search_log.trace(TENANT, saved.trace_id) == saved
        assert await stores.search_log.trace(TENANT, saved.search_id) == saved
    assert await stores.search_log.trace(TENANT, uuid4()) is None


async def test_an_item_is_found_by_its_id(stores: Stores) -> None:
    trace = a_trace()
    await stores.search_log.save([trace])
    assert await stores.search_log.item(TENANT, trace.items[1].item_id) == trace.items[1]
    assert await stores.search_log.item(TENANT, trace.trace_id) is None


async def test_a_trace_is_its_tenants_alone(stores: Stores) -> None:
    trace = a_trace()
    await stores.search_log.save([trace])
    assert await stores.search_log.trace("other", trace.trace_id) is None
    assert await stores.search_log.trace("other", trace.search_id) is None
    assert await stores.search_log.item("other", trace.items[0].item_id) is None


async def test_saving_a_trace_again_changes_nothing(stores: Stores) -> None:
    trace, new = a_trace(), a_trace()
    await stores.search_log.save([trace])
    await stores.search_log.save([replace(trace, query="other"), new])
    assert await stores.search_log.trace(TENANT, trace.trace_id) == trace
    assert await stores.search_log.trace(TENANT, new.trace_id) == new


async def test_no_traces_are_no_trouble(stores: Stores) -> None:
    await stores.search_log.save([])
    assert await stores.search_log.purge(START) == 0


async def test_purging_takes_what_was_made_before_with_its_items(stores: Stores) -> None:
    old = a_trace(created_at=START - timedelta(microseconds=1))
    new = a_trace()
    await stores.search_log.save([old, new])
    assert await stores.search_log.purge(START) == 1
    assert await stores.search_log.trace(TENANT, old.trace_id) is None
    assert await stores.search_log.item(TENANT, old.items[0].item_id) is None
    assert await stores.search_log.trace(TENANT, new.trace_id) == new


async def test_traces_saved_at_once_are_all_kept(stores: Stores) -> None:
    traces = [a_trace() for _ in range(20)]
    await asyncio.gather(*(stores.search_log.save([trace]) for trace in traces))
    assert [await stores.search_log.trace(TENANT, trace.trace_id) for trace in traces] == traces


async def test_a_purge_takes_the_traces_of_searches_that_returned_the_note(stores: Stores) -> None:
    note, other = await store(stores, "Tea."), await store(stores, "Milk.")
    both, one = a_trace(), a_trace()
    both = replace(both, items=(an_item(both.trace_id, 1, note.note_id), an_item(both.trace_id, 2, other.note_id)))
    one = replace(one, items=(an_item(one.trace_id, 1, other.note_id),))
    await stores.search_log.save([both, one])

    await stores.notes.purge(note, at(), indexed=True)

    assert await stores.search_log.trace(TENANT, both.trace_id) is None
    assert await stores.search_log.item(TENANT, both.items[1].item_id) is None
    assert await stores.search_log.trace(TENANT, one.trace_id) == one


async def test_opened_results_are_recorded_and_those_of_purged_notes_left_out(
    stores: Stores, store_backend: StoreBackend
) -> None:
    tea, milk, unknown = await store(stores, "Tea."), await store(stores, "Milk."), a_note("Gone.")
    hits = [(tea, 1), (tea, 2), (unknown, 1), (milk, 3)]

    await stores.search_log.record_hits(
        [HitRecord(TENANT, "ann", uuid4(), note.note_id, uuid4(), rank) for note, rank in hits], START
    )
    await stores.search_log.record_hits([], START)

    assert store_backend.opened() == [(tea.note_id.hex, 1), (tea.note_id.hex, 2), (milk.note_id.hex, 3)]
