from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from nur.adapters.sql.chunks import SqlChunkStore
from nur.adapters.sql.search_log import SqlSearchLog
from nur.domain.access import DEFAULT_TENANT, Caller, Principal
from nur.domain.errors import StoreDown
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind
from nur.domain.traces import CandidateOutcome, Trace, filter_as_json, filter_from_json
from nur.services.search import search_log
from tests.callers import LOCAL_CALLER
from tests.store_notes import START
from tests.unit.services.conftest import a_request

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence
    from datetime import datetime

    from nur.ports.chunks import CandidateQuery, CandidateSet
    from tests.unit.services.conftest import Nur, OpenNur

STRANGER = Caller(Principal("local", "another tenant"), "test call")
QUESTION = "when is tea drunk"


async def traced(nur: Nur, query: str = QUESTION, **changes: object) -> Trace:
    await nur.remember("Tea is drunk at four.", "Milk goes into tea.", "The bridge is closed.")
    result = await nur.search(query, **changes)
    trace = await nur.services.search_log.find(result.search_id, LOCAL_CALLER)
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
    assert await nur.stores.search_log.trace(DEFAULT_TENANT, trace.trace_id) is None
    await nur.services.search_log.flush()
    assert await nur.stores.search_log.trace(DEFAULT_TENANT, trace.trace_id) == trace
    assert await nur.services.search_log.find(trace.search_id, LOCAL_CALLER) == trace
    assert await nur.services.search_log.find(trace.search_id, STRANGER) is None


async def test_every_hit_is_an_item_and_every_candidate_has_an_outcome(nur: Nur) -> None:
    trace = await traced(nur, limit=1)
    returned = [one for one in trace.candidates if one.outcome is CandidateOutcome.RETURNED]
    assert len(trace.items) == len(returned) == 1
    assert (trace.items[0].rank, returned[0].place) == (1, 1)
    assert trace.items[0].scores["score"] == pytest.approx(returned[0].score, abs=1e-6)
    assert len(trace.candidates) == 3
    assert trace.outcome["hits"] == 1
    for found in (nur.services.search_log.find_item(trace.items[0].item_id, LOCAL_CALLER), _written(nur, trace)):
        assert await found == trace.items[0]


async def _written(nur: Nur, trace: Trace) -> object:
    await nur.services.search_log.flush()
    return await nur.services.search_log.find_item(trace.items[0].item_id, LOCAL_CALLER)


class Forgetful(SqlChunkStore):
    """Says of the first candidate that it may not be shown."""

    async def candidates(self, query: CandidateQuery) -> CandidateSet:
        found = await super().candidates(query)
        return replace(found, views=found.views[1:], not_visible=[found.views[0].chunk_key])


async def test_what_the_store_does_not_show_is_listed(nur: Nur) -> None:
    await nur.remember("Tea is drunk at four.", "Milk goes into tea.")
    hidden = Forgetful(nur.stores.chunks.run, nur.stores.chunks.lexical_index)
    search = nur.services.search
    result = await replace(search, retrieve=replace(search.retrieve, chunks=hidden))(a_request(QUESTION))
    trace = await nur.services.search_log.find(result.search_id, LOCAL_CALLER)
    assert trace is not None
    assert [one.outcome for one in trace.candidates].count(CandidateOutcome.NOT_VISIBLE) == 1


async def test_questions_can_be_kept_out(open_nur: OpenNur, nur: Nur) -> None:
    assert (await traced(nur)).query == QUESTION
    discreet = await open_nur(trace_queries=False)
    trace = await traced(discreet)
    assert trace.query is None
    assert QUESTION not in repr(trace)


async def test_without_retention_there_are_no_traces(open_nur: OpenNur) -> None:
    nur = await open_nur(trace_retention_days=0)
    result = await nur.search("tea")
    await nur.services.search_log.flush()
    assert await nur.services.search_log.find(result.trace_id, LOCAL_CALLER) is None


@dataclass(frozen=True)
class FailingLog(SqlSearchLog):
    """A log that cannot be written a few times; `done` is set when something was written or purged."""

    fails: int = 0
    tries: list[int] = field(default_factory=list)  #: how many traces each had
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def save(self, traces: Sequence[Trace]) -> None:
        self.tries.append(len(traces))
        if len(self.tries) <= self.fails:
            raise StoreDown("down")
        await super().save(traces)
        self.done.set()

    async def purge(self, before: datetime) -> int:
        purged = await super().purge(before)
        if purged:
            self.done.set()
        return purged


async def test_traces_wait_while_the_store_is_down_and_the_oldest_is_given_up(
    nur: Nur, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_log, "MAX_PENDING", 2)
    nur.services.search_log.store = FailingLog(nur.stores.search_log.run, fails=1)
    results = [await nur.search(f"question {number}") for number in range(3)]
    with pytest.raises(StoreDown):
        await nur.services.search_log.flush()
    await nur.services.search_log.flush()
    kept = [await nur.stores.search_log.trace(DEFAULT_TENANT, result.trace_id) is not None for result in results]
    assert kept == [False, True, True]


async def test_the_writer_waits_for_company_and_goes_on_after_an_outage(nur: Nur) -> None:
    store = FailingLog(nur.stores.search_log.run, fails=1)
    nur.services.search_log.store = store
    results = [await nur.search("tea"), await nur.search("milk")]
    await run_until(nur.services.search_log.forever(), store.done)
    assert store.tries == [2, 2]
    assert nur.clock.sleeps[:2] == [search_log.BATCH_SECONDS] * 2
    assert await nur.stores.search_log.trace(DEFAULT_TENANT, results[0].trace_id) is not None


async def test_old_traces_are_purged_once_an_hour(nur: Nur) -> None:
    trace = await traced(nur)
    await nur.services.search_log.flush()
    await nur.stores.search_log.save([replace(trace, trace_id=uuid4(), items=(), created_at=START + timedelta(days=6))])
    store = FailingLog(nur.stores.search_log.run)
    nur.services.search_log.store = store
    await run_until(nur.services.search_log.purge_forever(), store.done)
    assert await nur.stores.search_log.trace(DEFAULT_TENANT, trace.trace_id) is None
    assert set(nur.clock.sleeps) == {search_log.PURGE_SECONDS}
    assert 7 * 24 <= len(nur.clock.sleeps) <= 7 * 24 + 2


def test_a_selection_comes_back_from_its_trace() -> None:
    asked = NoteFilter(
        tenant="a tenant",
        kinds=frozenset({Kind.TURN}),
        conversation_id="c",
        min_confidence=0.5,
        occurred_from=START,
        occurred_to=START,
    )
    assert filter_from_json(filter_as_json(asked)) == asked
    everything = NoteFilter(tenant="a tenant")
    assert filter_from_json(filter_as_json(everything)) == everything
