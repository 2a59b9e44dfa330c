"""Waiting for the index after a write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from nur.domain.writes import IndexState, Outcome, Stored
from nur.services.notes.wait_until_indexed import POLL_SECONDS, WaitUntilIndexed
from tests.doubles.clock import ManualClock
from tests.note_world import ME, FailingIndex
from tests.store_notes import a_note

if TYPE_CHECKING:
    from nur.domain.notes import NoteId
    from tests.unit.services.conftest import OpenWorld


class Marks:
    """The note is indexed after it was asked for that many times."""

    def __init__(self, after: int) -> None:
        self.left = after

    async def is_indexed(self, _: NoteId) -> bool:
        self.left -= 1
        return self.left < 0


async def no_duplicates(*_: object) -> list[Any]:
    return []


async def waited(polls: int, seconds: float) -> tuple[IndexState, list[float]]:
    clock = ManualClock()
    wait = WaitUntilIndexed(cast("Any", Marks(polls)), cast("Any", no_duplicates), clock)
    stored = Stored(note=a_note("Tea."), outcome=Outcome.CREATED, index_state=IndexState.PENDING)
    return (await wait(stored, ME, seconds)).index_state, clock.sleeps


async def test_it_polls_until_the_note_is_indexed() -> None:
    assert await waited(3, 10.0) == (IndexState.INDEXED, [POLL_SECONDS] * 3)


async def test_it_polls_once_when_it_may_not_wait() -> None:
    assert await waited(1, 0.0) == (IndexState.PENDING, [])


async def test_it_gives_up_when_the_time_is_over() -> None:
    state, sleeps = await waited(1000, 2 * POLL_SECONDS)
    assert (state, len(sleeps)) == (IndexState.PENDING, 2)


async def test_near_duplicates_come_with_the_indexed_note_only(open_world: OpenWorld) -> None:
    world = await open_world()
    first = await world.add("The green lamp in the long hall burns all night until morning comes.")
    stored = await world.add("The green lamp in the long hall burns all night until the morning comes.")
    waiting = await world.services.wait_until_indexed(stored, ME, 1.0)
    assert (waiting.index_state, waiting.near_duplicates) == (IndexState.PENDING, None)
    assert world.clock.monotonic() == pytest.approx(1.0, abs=0.06)
    await world.drain()
    indexed = await world.services.wait_until_indexed(stored, ME, 1.0)
    assert indexed.index_state is IndexState.INDEXED
    assert [one.public_id for one in indexed.near_duplicates or ()] == [first.note.public_id]


async def test_an_index_that_is_down_takes_only_the_near_duplicates(open_world: OpenWorld) -> None:
    world = await open_world(follows=False)
    stored = await world.add("The green lamp burns all night.")
    await world.drain()
    assert isinstance(world.index, FailingIndex)
    world.index.down = True
    indexed = await world.services.wait_until_indexed(stored, ME, 1.0)
    assert (indexed.index_state, indexed.near_duplicates) == (IndexState.INDEXED, None)
