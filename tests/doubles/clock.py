"""ManualClock: a clock that advances only on request."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta


class ManualClock:
    """A clock for tests: sleeping advances it at once. `sleeps` lists every wait, in order."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self.sleeps: list[float] = []
        self._start = start
        self._passed = 0.0

    def now(self) -> datetime:
        """The current time, in UTC."""
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        """Seconds since the clock was created."""
        return self._passed

    async def sleep(self, seconds: float) -> None:
        """Advance the clock, and let other tasks run once."""
        self.sleeps.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Advance the clock."""
        self._passed += max(0.0, seconds)
