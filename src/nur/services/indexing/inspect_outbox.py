"""Inspect the outbox: pending jobs and dead letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.ports.clock import Clock
    from nur.ports.outbox import Backlog, DeadLetter, Outbox


#: Maximum dead letters in a report.
DEAD_SHOWN = 50


@dataclass(frozen=True, slots=True)
class OutboxReport:
    """The backlog and some of its dead letters."""

    backlog: Backlog
    dead_letters: Sequence[DeadLetter]


@dataclass(frozen=True, slots=True)
class InspectOutbox:
    """Shows operators the worker's pending and failed jobs."""

    outbox: Outbox
    clock: Clock
    wake: Callable[[], None]

    async def __call__(self) -> OutboxReport:
        """The current backlog and dead letters."""
        return OutboxReport(await self.outbox.backlog(self.clock.now()), await self.outbox.dead_letters(DEAD_SHOWN))

    async def retry_dead(self) -> int:
        """Queue every dead letter again; returns how many there were."""
        retried = await self.outbox.retry_dead(self.clock.now())
        self.wake()
        return retried
