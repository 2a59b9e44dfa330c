from __future__ import annotations

from typing import TYPE_CHECKING, cast
from uuid import uuid4

from nur.domain.notes import NoteId
from nur.domain.writes import IndexState
from nur.services.indexing.inspect_outbox import LOOK_EVERY_SECONDS, WaitUntilIndexed
from tests.doubles.clock import ManualClock

if TYPE_CHECKING:
    from nur.ports.vector_index import IndexMarks


class Marks:
    """The note is indexed when it was asked for so often."""

    def __init__(self, after: int) -> None:
        self.left = after

    async def is_indexed(self, _: NoteId) -> bool:
        self.left -= 1
        return self.left < 0


async def waited(looks: int, seconds: float) -> tuple[IndexState, list[float]]:
    clock = ManualClock()
    state = await WaitUntilIndexed(cast("IndexMarks", Marks(looks)), clock)(NoteId(uuid4()), seconds)
    return state, clock.sleeps


async def test_it_looks_until_the_note_is_indexed() -> None:
    assert await waited(3, 10.0) == (IndexState.INDEXED, [LOOK_EVERY_SECONDS] * 3)


async def test_it_looks_once_when_it_may_not_wait() -> None:
    assert await waited(1, 0.0) == (IndexState.PENDING, [])


async def test_it_gives_up_when_the_time_is_over() -> None:
    state, sleeps = await waited(1000, 2 * LOOK_EVERY_SECONDS)
    assert (state, len(sleeps)) == (IndexState.PENDING, 2)
