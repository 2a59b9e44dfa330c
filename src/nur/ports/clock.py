"""Clock: the time, injected so that tests never wait."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Source of time for services."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking other tasks."""
        ...


def milliseconds_since(started: float, clock: Clock) -> int:
    """Return the whole milliseconds since a monotonic time."""
    return round((clock.monotonic() - started) * 1000)


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking other tasks."""
        await asyncio.sleep(seconds)
