from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from nur.domain.errors import StoreDown
from nur.domain.filters import NoteFilter
from nur.domain.notes import DEFAULT_TENANT, Kind
from nur.domain.traces import CandidateOutcome, Trace, filter_as_json, filter_from_json
from nur.services.search import search_log as trace_searches
from tests.ledger_notes import START
from tests.unit.services.conftest import Nur

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from datetime import datetime

QUESTION = "when is tea drunk"


async def traced(nur: Nur, query: str = QUESTION, **changes: object) -> Trace:
    await nur.remember("Tea is drunk at four.", "Milk goes into tea.", "The bridge is closed.")
    result = await nur.search(query, **changes)
    trace = await nur.services.traces.find(DEFAULT_TENANT, result.search_id)
    assert trace is not None
    return trace


async def run_until(job: Coroutine[None, None, None], done: asyncio.Event) -> None:
    """Run a job that never ends, until something happened."""
    task = asyncio.create_task(job)
    await done.wait()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_a_trace_is_readable_before_it_is_written_and_the_same_after(nur: Nur) -> None:
    trace = await traced(nur)
    assert await nur.ledger.trace(DEFAULT_TENANT, trace.trace_id) is None
    await nur.services.traces.flush()
    assert await nur.ledger.trace(DEFAULT_TENANT, trace.trace_id) == trace
    assert await nur.services.traces.find(DEFAULT_TENANT, trace.search_id) == trace
    assert await nur.services.traces.find("another tenant", trace.search_id) is None


async def test_every_hit_is_an_item_and_every_candidate_has_a_verdict(nur: Nur) -> None:
    trace = await traced(nur, limit=1)
    returned = [one for one in trace.candidates if one.verdict is CandidateOutcome.RETURNED]
    assert len(trace.items) == len(returned) == 1
    assert (trace.items[0].rank, returned[0].place) == (1, 1)
    assert trace.items[0].scores["score"] == pytest.approx(returned[0].score, abs=1e-6)
    assert len(trace.candidates) == 3
    assert trace.outcome["hits"] == 1
    for found in (nur.services.traces.find_item(DEFAULT_TENANT, trace.items[0].item_id), _written(nur, trace)):
        assert await found == trace.items[0]


async def _written(nur: Nur, trace: Trace) -> object:
    await nur.services.traces.flush()
    return await nur.services.traces.find_item(DEFAULT_TENANT, trace.items[0].item_id)


async def test_what_the_ledger_dropped_on_reading_is_listed(nur: Nur, monkeypatch: pytest.MonkeyPatch) -> None:
    read = nur.ledger.candidates

    async def forgetful(keys: list[object], where: object) -> list[object]:
        return (await read(keys, where))[1:]  # type: ignore[arg-type, return-value]

    monkeypatch.setattr(nur.ledger, "candidates", forgetful)
    trace = await traced(nur)
    assert [one.verdict for one in trace.candidates].count(CandidateOutcome.NOT_VISIBLE) == 1


async def test_questions_can_be_kept_out(nur: Nur) -> None:
    assert (await traced(nur)).query == QUESTION
    discreet = Nur(settings={"trace_queries": False})
    trace = await traced(discreet)
    assert trace.query is None
    assert QUESTION not in repr(trace)


async def test_without_retention_there_are_no_traces() -> None:
    nur = Nur(settings={"trace_retention_days": 0})
    result = await nur.search("tea")
    await nur.services.traces.flush()
    assert await nur.services.traces.find(DEFAULT_TENANT, result.trace_id) is None


async def test_traces_wait_while_the_store_is_down_and_the_oldest_is_given_up(
    nur: Nur, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_searches, "MOST_PENDING", 2)
    save = nur.ledger.save_traces

    async def down(traces: object) -> None:
        raise StoreDown("down")

    monkeypatch.setattr(nur.ledger, "save_traces", down)
    results = [await nur.search(f"question {number}") for number in range(3)]
    with pytest.raises(StoreDown):
        await nur.services.traces.flush()
    monkeypatch.setattr(nur.ledger, "save_traces", save)
    await nur.services.traces.flush()
    kept = [await nur.ledger.trace(DEFAULT_TENANT, result.trace_id) is not None for result in results]
    assert kept == [False, True, True]


async def test_the_writer_waits_for_company_and_goes_on_after_an_outage(
    nur: Nur, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, tries, done = nur.ledger.save_traces, 0, asyncio.Event()

    async def down_once(traces: list[Trace]) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise StoreDown("down")
        await save(traces)
        done.set()

    monkeypatch.setattr(nur.ledger, "save_traces", down_once)
    results = [await nur.search("tea"), await nur.search("milk")]
    await run_until(nur.services.traces.forever(), done)
    assert tries == 2
    assert nur.clock.sleeps[:2] == [trace_searches.BATCH_SECONDS] * 2
    assert await nur.ledger.trace(DEFAULT_TENANT, results[0].trace_id) is not None


async def test_old_traces_are_purged_once_an_hour(nur: Nur, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = await traced(nur)
    await nur.services.traces.flush()
    await nur.ledger.save_traces([replace(trace, trace_id=uuid4(), created_at=START + timedelta(days=6))])
    purge, done = nur.ledger.purge_traces, asyncio.Event()

    async def purged(before: datetime) -> int:
        count = await purge(before)
        if count:
            done.set()
        return count

    monkeypatch.setattr(nur.ledger, "purge_traces", purged)
    await run_until(nur.services.traces.purge_forever(), done)
    assert await nur.ledger.trace(DEFAULT_TENANT, trace.trace_id) is None
    assert set(nur.clock.sleeps) == {trace_searches.PURGE_SECONDS}
    assert 7 * 24 <= len(nur.clock.sleeps) <= 7 * 24 + 2


def test_a_selection_comes_back_from_its_trace() -> None:
    asked = NoteFilter(
        kinds=frozenset({Kind.TURN}), conversation_id="c", min_confidence=0.5, occurred_from=START, occurred_to=START
    )
    assert filter_from_json(filter_as_json(asked)) == asked
    assert filter_from_json(filter_as_json(NoteFilter())) == NoteFilter()
