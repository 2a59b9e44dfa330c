"""Inspect the outbox: what waits to be indexed, what was given up, and whether one note is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.writes import IndexState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.domain.notes import NoteId
    from nur.ports.clock import Clock
    from nur.ports.outbox import Backlog, DeadLetter, Outbox
    from nur.ports.vector_index import IndexMarks


#: Dead letters in a report.
DEAD_SHOWN = 50

LOOK_EVERY_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class OutboxReport:
    """The backlog, with some of its dead letters."""

    backlog: Backlog
    dead_letters: Sequence[DeadLetter]


@dataclass(frozen=True, slots=True)
class InspectOutbox:
    """Shows the operator what the worker has still to do or has given up."""

    outbox: Outbox
    clock: Clock
    wake: Callable[[], None]

    async def __call__(self) -> OutboxReport:
        """The backlog now."""
        return OutboxReport(await self.outbox.backlog(self.clock.now()), await self.outbox.dead_letters(DEAD_SHOWN))

    async def retry_dead(self) -> int:
        """Try every dead letter again and return how many there are."""
        retried = await self.outbox.retry_dead(self.clock.now())
        self.wake()
        return retried


@dataclass(frozen=True, slots=True)
class WaitUntilIndexed:
    """Looks again and again, since another process may be the one that indexes."""

    index_marks: IndexMarks
    clock: Clock

    async def __call__(self, note_id: NoteId, seconds: float) -> IndexState:
        """The state after at most that many seconds."""
        deadline = self.clock.monotonic() + seconds
        while not await self.index_marks.is_indexed(note_id):
            if self.clock.monotonic() >= deadline:
                return IndexState.PENDING
            await self.clock.sleep(LOOK_EVERY_SECONDS)
        return IndexState.INDEXED
