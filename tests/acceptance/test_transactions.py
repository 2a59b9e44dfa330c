"""How many transactions a call takes: what makes a search or a write slow on a database over a network."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from tests.counting_runner import Count, CountingRunner
from tests.rest_client import rest_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.acceptance.conftest import Door, OpenWithoutJobs

MEMORY = {"type": "fact", "confidence": 1.0}
STORED = ["Tea is drunk at four.", "Tea is drunk at four!", "Milk goes into tea.", "The bridge is closed."]
LONG = " ".join(f"Keeper {number} of the lighthouse drinks tea at {number}." for number in range(400))


@asynccontextmanager
async def filled(open_without_jobs: OpenWithoutJobs) -> AsyncIterator[tuple[Door, CountingRunner]]:
    """A store with short notes, two of which say the same, a long one and a conversation."""
    run = CountingRunner()
    async with open_without_jobs(run=run) as nur:
        for text in STORED:
            await nur.text("memory_store", content=text, **MEMORY)
        await nur.text("artifact_ingest", artifact_type="doc", source_system="drive", source_id="1", content=LONG)
        for turn in range(6):
            said = {"role": "user", "content": f"Tea number {turn}, please.", "turn_index": turn}
            await nur.text("history_append", conversation_id="c", **said)
        run.take()
        yield nur, run


@pytest.mark.parametrize("limit", [1, 5, 50])
async def test_a_hybrid_search_over_mcp_takes_three_reads_and_writes_nothing(
    open_without_jobs: OpenWithoutJobs, limit: int
) -> None:
    asked = {"include_memory": True, "include_history": True, "expand_neighbors": True}
    async with filled(open_without_jobs) as (nur, run):
        found = await nur.data("hybrid_search", query="when is tea drunk", limit=limit, **asked)
        count = run.take()
    assert found["hits"]
    assert count.reads <= 3
    assert count.writes == 0


@pytest.mark.parametrize("payload", ["l0", "l1", "l2"])
async def test_a_search_over_rest_takes_three_reads_and_writes_nothing(
    open_without_jobs: OpenWithoutJobs, payload: str
) -> None:
    async with filled(open_without_jobs) as (nur, run), rest_of(nur.services) as rest:
        found = await rest.ok("POST", "/v2/searches", {"query": "when is tea drunk", "payload": payload})
        count = run.take()
    assert found["items"]
    assert count.reads <= 3
    assert count.writes == 0


async def test_a_new_memory_takes_one_read_and_one_write(open_without_jobs: OpenWithoutJobs) -> None:
    async with filled(open_without_jobs) as (nur, run):
        await nur.text("memory_store", content="Coffee is drunk at eight.", **MEMORY)
        assert run.take() == Count(reads=1, writes=1)


async def test_a_memory_that_is_suggested_for_review_takes_no_transaction_more(
    open_without_jobs: OpenWithoutJobs,
) -> None:
    async with filled(open_without_jobs) as (nur, run):
        answer = await nur.data("memory_store", content="The bridge is not closed.", **MEMORY)
        assert run.take() == Count(reads=1, writes=1)
    assert answer["similar"]


async def test_a_new_note_over_rest_takes_one_read_and_one_write(open_without_jobs: OpenWithoutJobs) -> None:
    async with filled(open_without_jobs) as (nur, run), rest_of(nur.services) as rest:
        await rest.ok("POST", "/v2/notes", {"text": "Coffee is drunk at eight."})
        assert run.take() == Count(reads=1, writes=1)
