"""What every ledger keeps of traces."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from nur.adapters.in_memory.clock import ManualClock
from nur.adapters.in_memory.ledger import InMemoryLedger
from nur.adapters.sql.sqlite.ledger import SqliteLedger
from nur.domain.notes import ChunkKey, NoteId
from nur.domain.traces import CandidateOutcome, Trace, TracedCandidate, TraceItem
from tests.ledger_notes import START, a_note, creation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from nur.ports.ledger import Ledger

TENANT = "default"


@pytest.fixture(params=["in_memory", "sqlite"])
async def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ledger]:
    clock = ManualClock(START)
    made: Ledger = InMemoryLedger(clock) if request.param == "in_memory" else SqliteLedger(tmp_path, clock)
    await made.open()
    yield made
    await made.close()


def a_trace(**changes: Any) -> Trace:
    trace_id, note_id = uuid4(), NoteId(uuid4())
    scores = {"score": 0.5, "cosine": None, "ranks": {"dense": 1}}
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
                    verdict=CandidateOutcome.RETURNED,
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
                TracedCandidate(chunk_key=ChunkKey(2**40), verdict=CandidateOutcome.NOT_VISIBLE),
            ),
            "items": tuple(
                TraceItem(
                    item_id=uuid4(),
                    trace_id=trace_id,
                    rank=rank,
                    note_id=note_id,
                    chunk_id=uuid4(),
                    scores=scores,
                    public_id="mem_1",
                    public_chunk_id="mem_1::chunk::000::c0ffee12",
                )
                for rank in (1, 2)
            ),
            "created_at": START,
            **changes,
        }
    )


async def test_a_trace_comes_back_as_it_was_by_either_id(ledger: Ledger) -> None:
    trace, other = a_trace(), a_trace(query=None, candidates=(), items=())
    await ledger.save_traces([trace, other])
    for kept in (trace, other):
        assert await ledger.trace(TENANT, kept.trace_id) == kept
        assert await ledger.trace(TENANT, kept.search_id) == kept
    assert await ledger.trace(TENANT, uuid4()) is None


async def test_an_item_is_found_by_its_id(ledger: Ledger) -> None:
    trace = a_trace()
    await ledger.save_traces([trace])
    assert await ledger.trace_item(TENANT, trace.items[1].item_id) == trace.items[1]
    assert await ledger.trace_item(TENANT, trace.trace_id) is None


async def test_a_trace_is_its_tenants_alone(ledger: Ledger) -> None:
    trace = a_trace()
    await ledger.save_traces([trace])
    assert await ledger.trace("other", trace.trace_id) is None
    assert await ledger.trace_item("other", trace.items[0].item_id) is None


async def test_saving_a_trace_again_changes_nothing(ledger: Ledger) -> None:
    trace, new = a_trace(), a_trace()
    await ledger.save_traces([trace])
    await ledger.save_traces([replace(trace, query="other"), new])
    assert await ledger.trace(TENANT, trace.trace_id) == trace
    assert await ledger.trace(TENANT, new.trace_id) == new


async def test_no_traces_are_no_trouble(ledger: Ledger) -> None:
    await ledger.save_traces([])
    assert await ledger.purge_traces(START) == 0


async def test_purging_takes_what_was_made_before_with_its_items(ledger: Ledger) -> None:
    old = a_trace(created_at=START - timedelta(microseconds=1))
    kept = a_trace()
    await ledger.save_traces([old, kept])
    assert await ledger.purge_traces(START) == 1
    assert await ledger.trace(TENANT, old.trace_id) is None
    assert await ledger.trace_item(TENANT, old.items[0].item_id) is None
    assert await ledger.trace(TENANT, kept.trace_id) == kept


async def test_traces_are_saved_beside_each_other(ledger: Ledger) -> None:
    traces = [a_trace() for _ in range(20)]
    await asyncio.gather(*(ledger.save_traces([trace]) for trace in traces))
    assert [await ledger.trace(TENANT, trace.trace_id) for trace in traces] == traces


async def test_a_purge_takes_the_traces_of_searches_that_returned_the_note(ledger: Ledger) -> None:
    note, other = [(await ledger.write(creation(a_note(text), text))).note for text in ("Tea.", "Milk.")]
    traces = [a_trace(), a_trace()]
    for trace, found in zip(traces, ([note, other], [other]), strict=True):
        items = tuple(replace(trace.items[0], item_id=uuid4(), note_id=one.note_id) for one in found)
        await ledger.save_traces([replace(trace, items=items)])
    await ledger.purge(note, principal="ann", indexed=True)
    assert await ledger.trace("default", traces[0].trace_id) is None
    assert await ledger.trace("default", traces[1].trace_id) is not None
