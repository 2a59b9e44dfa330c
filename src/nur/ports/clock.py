"""Time, injected so that tests never wait."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where services get the time from."""

    def now(self) -> datetime:
        """The moment, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go backwards."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let others run for that long."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """The moment, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never go backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let others run for that long."""
        await asyncio.sleep(seconds)
