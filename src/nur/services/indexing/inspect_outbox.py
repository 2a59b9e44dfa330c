"""Inspect the outbox: what waits to be indexed, and what was given up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.ports.clock import Clock
    from nur.ports.outbox import Backlog, DeadLetter, Outbox


#: Dead letters in a report.
DEAD_SHOWN = 50


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
