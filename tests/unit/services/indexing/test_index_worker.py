"""The worker: outages lose nothing, every chunk is embedded once, a failure of its own becomes a dead letter."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.adapters.sql.outbox import SqlOutbox
from nur.domain.errors import EmbedderRefused, IndexDown
from nur.domain.notes import Kind
from nur.domain.search import Mode
from nur.services.indexing import index_worker as work
from nur.services.indexing.index_worker import MAX_OUTAGE_RETRY_SECONDS, retry_in
from tests.note_world import LONG, ME, FailingIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from nur.domain.notes import NoteId
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats
    from nur.ports.outbox import Job
    from nur.ports.vector_index import IndexOp
    from tests.note_world import World
    from tests.unit.services.conftest import OpenWorld


@pytest.mark.parametrize(
    ("failures", "jitter", "expected"),
    [
        (1, 0.0, 2.0),
        (2, 0.0, 4.0),
        (2, 1.0, 5.0),  # spread by up to a quarter
        (9, 0.0, 300.0),  # the longest
        (5000, 0.0, 300.0),  # a power that no float holds
    ],
)
def test_waits_double_up_to_a_limit(failures: int, jitter: float, expected: float) -> None:
    assert retry_in(failures, jitter, longest=300.0) == expected


@pytest.mark.parametrize("follows", [True, False])
async def test_an_outage_of_the_provider_delays_only_the_vectors(open_world: OpenWorld, follows: bool) -> None:
    world = await open_world(follows=follows)
    world.embedder.down = True
    written = []
    for minute in range(10):
        written.append(await world.add(f"Message {minute} of the outage speaks of tower{minute}."))
        assert await world.found(f"tower{minute}") == [written[-1].note.public_id]
        world.clock.advance(60)
        await world.drain()
    assert world.embedder.embedded == 0
    assert (await world.find("tower1")).degraded == ("dense",)

    world.embedder.down = False
    world.clock.advance(MAX_OUTAGE_RETRY_SECONDS)
    await world.drain()
    assert world.embedder.embedded == 10
    assert await world.index.count() == 10
    for minute, stored in enumerate(written):
        found = await world.found(f"Message {minute} of the outage speaks of tower{minute}.", Mode.DENSE)
        assert found[0] == stored.note.public_id
    assert (await world.stores.outbox.backlog(world.clock.now())).dead == 0


async def test_an_outage_of_the_index_embeds_nothing_twice(open_world: OpenWorld) -> None:
    world = await open_world(follows=False)
    assert isinstance(world.index, FailingIndex)
    world.index.down = True
    stored = await world.add(LONG)
    for _ in range(5):
        await world.drain()
        world.clock.advance(400)
    assert world.embedder.embedded == stored.note.chunk_count
    world.index.down = False
    await world.settle()
    assert await world.index.count() == world.embedder.embedded == stored.note.chunk_count


class RefusingIndex(FailingIndex):
    """Refuses one note, and with it everything in the same request."""

    refused: NoteId | None = None

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.requests: list[int] = []  #: number of notes in each

    async def apply(self, ops: Sequence[IndexOp]) -> None:
        self.requests.append(len(ops))
        if any(op.note_id == self.refused for op in ops):
            raise IndexDown("The index refuses this note.")
        await super().apply(ops)


async def test_waiting_notes_are_indexed_in_one_request(open_world: OpenWorld) -> None:
    world = await open_world()
    index = RefusingIndex(world.clock)
    world.use_index(index)
    for number in range(5):
        await world.add(f"Tea number {number}.")
    await world.drain()
    assert index.requests == [5]
    assert await index.count() == 5


async def test_a_note_that_the_index_refuses_does_not_hold_up_the_others(open_world: OpenWorld) -> None:
    world = await open_world()
    index = RefusingIndex(world.clock)
    world.use_index(index)
    for number in range(4):
        await world.add(f"Tea number {number}.")
    index.refused = (await world.add("Poison.")).note.note_id
    await world.drain()
    assert await index.count() == 4
    assert (await world.stores.outbox.backlog(world.clock.now())).pending == 1

    index.refused = None
    await world.settle()
    assert await index.count() == 5


async def test_a_change_of_metadata_during_embedding_costs_no_second_call(open_world: OpenWorld) -> None:
    world = await open_world()
    stored = await world.add("Tea at four.")

    async def meanwhile() -> None:
        await world.add("Tea at four.", importance=0.9)

    _interrupt(world, meanwhile)
    await world.settle()
    assert world.embedder.embedded == 1
    assert await world.stores.index_marks.is_indexed(stored.note.note_id)
    assert await world.index.count() == 1


async def test_an_edit_during_embedding_wins(open_world: OpenWorld) -> None:
    world = await open_world()
    await world.add("The code is 12.", key="door")

    async def meanwhile() -> None:
        await world.add("The code is 34.", key="door")

    _interrupt(world, meanwhile)
    await world.settle()
    assert await world.index.count() == 1
    (hit,) = (await world.find("The code is 34.", Mode.DENSE)).hits
    assert hit.passages[0].text == "The code is 34."


async def test_a_delete_during_embedding_wins(open_world: OpenWorld) -> None:
    world = await open_world(follows=False)
    stored = await world.add("Tea at four.")

    async def meanwhile() -> None:
        await world.services.forget(stored.note.public_id, Kind.NOTE, ME)

    _interrupt(world, meanwhile)
    await world.settle()
    assert await world.index.count() == 0
    assert await world.found("tea") == []


async def test_a_text_that_the_provider_refuses_becomes_a_dead_letter_alone(open_world: OpenWorld) -> None:
    world = await open_world()
    bad = await world.add("a refused text")
    good = await world.add("a good text")
    _refuse(world, "refused")
    for _ in range(work.MAX_TRIES):
        await world.drain()
        world.clock.advance(400)
    backlog = await world.stores.outbox.backlog(world.clock.now())
    assert (backlog.pending, backlog.dead) == (0, 1)
    (letter,) = await world.stores.outbox.dead_letters(10)
    assert letter.public_id == bad.note.public_id
    assert "a refused text" not in str(letter.error)
    assert await world.stores.index_marks.is_indexed(good.note.note_id)
    report = await world.services.health()
    assert report.checks["store"]["dead_letters"] == 1

    del world.embedder.embed  # the provider changed its mind
    assert await world.stores.outbox.retry_dead(world.clock.now()) == 1
    await world.settle()
    assert await world.stores.index_marks.is_indexed(bad.note.note_id)


async def test_what_expired_before_its_turn_is_not_embedded(open_world: OpenWorld) -> None:
    world = await open_world()
    await world.add("x")
    await world.add("Tea for a day.", ttl_days=1)
    await world.drain()
    assert world.embedder.embedded == 2
    await world.add("Milk for a day.", ttl_days=1)
    world.clock.advance(86_400)
    await world.drain()
    assert world.embedder.embedded == 2


async def test_two_workers_share_the_work_and_show_it_once(open_world: OpenWorld) -> None:
    world = await open_world(follows=False)
    for i in range(40):
        await world.add(f"Note number {i}.")
    other = replace(world.services.index_worker, name="other", _woken=asyncio.Event())
    while any(await asyncio.gather(world.services.index_worker.once(), other.once())):
        pass
    assert world.embedder.embedded == 40
    assert await world.index.count() == 40


async def test_long_notes_keep_what_was_embedded_before_the_outage(open_world: OpenWorld) -> None:
    world = await open_world(chunking={"max_tokens": 8, "overlap_tokens": 0})
    stored = await world.add(LONG)
    assert stored.note.chunk_count > 200
    _fail_after(world, 1)
    await world.drain()
    kept = world.embedder.embedded
    assert 0 < kept < stored.note.chunk_count
    del world.embedder.embed
    await world.settle()
    assert world.embedder.embedded == stored.note.chunk_count


@dataclass(frozen=True)
class BrokenOnce(SqlOutbox):
    """Fails in a way that nobody foresaw, once."""

    calls: list[str] = field(default_factory=list)

    async def lease(self, worker: str, limit: int, now: datetime, lease_seconds: float) -> list[Job]:
        self.calls.append(worker)
        if len(self.calls) == 1:
            raise ZeroDivisionError
        return await super().lease(worker, limit, now, lease_seconds)


async def test_a_bug_in_one_round_does_not_end_the_worker(open_world: OpenWorld) -> None:
    world = await open_world()
    await world.add("Tea.")
    world.services.index_worker.outbox = BrokenOnce(world.stores.outbox.run)
    working = asyncio.create_task(world.services.index_worker.forever())
    async with asyncio.timeout(30):
        while (await world.stores.outbox.backlog(world.clock.now())).pending:  # noqa: ASYNC110  # asked of the store
            await asyncio.sleep(0)
    working.cancel()


def _interrupt(world: World, meanwhile: Callable[[], object]) -> None:
    """Let something happen while the provider is at work, once."""
    embed = world.embedder.embed
    done: list[bool] = []

    async def slow(texts: Sequence[str], progress: object = None) -> Floats:
        if not done:
            done.append(True)
            await meanwhile()  # type: ignore[misc]
        return await embed(texts)

    world.embedder.embed = slow  # type: ignore[method-assign]


def _refuse(world: World, word: str) -> None:
    embed = world.embedder.embed

    async def picky(texts: Sequence[str], progress: object = None) -> Floats:
        if any(word in text for text in texts):
            raise EmbedderRefused("Invalid text for embedding: told to refuse")
        return await embed(texts)

    world.embedder.embed = picky  # type: ignore[method-assign]


def _fail_after(world: World, calls: int) -> None:
    embed, made = world.embedder.embed, []

    async def tired(texts: Sequence[str], progress: object = None) -> Floats:
        made.append(len(texts))
        world.embedder.down = len(made) > calls
        try:
            return np.asarray(await embed(texts))
        finally:
            world.embedder.down = False

    world.embedder.embed = tired  # type: ignore[method-assign]
