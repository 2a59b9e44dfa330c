"""The calls in flight: how many there are, and how long they have once the server stops."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from nur.domain.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

STOPPING = "The server is stopping and could not finish this call in time. Try again; storing the same text is safe."


class CallsInFlight:
    """Counts calls, waits until there are none, and ends those that outlast a stop."""

    def __init__(self) -> None:
        self._limits: set[asyncio.Timeout] = set()
        self._deadline: float | None = None
        self._quiet = asyncio.Event()
        self._quiet.set()

    def __len__(self) -> int:
        return len(self._limits)

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """A call, for as long as the block lasts. Raises Unavailable in the block when the stop cannot wait for it."""
        limit = asyncio.timeout_at(self._deadline)
        self._limits.add(limit)
        self._quiet.clear()
        try:
            async with limit:
                yield
        except TimeoutError:
            if limit.expired():
                raise Unavailable(STOPPING) from None
            raise
        finally:
            self._limits.discard(limit)
            if not self._limits:
                self._quiet.set()

    async def wait_for_none(self, seconds: float) -> None:
        """Return when no call is in flight, or after this many seconds."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._quiet.wait(), seconds)

    def stop(self, seconds: float) -> None:
        """Give every call this many seconds from now, later ones included."""
        self._deadline = asyncio.get_running_loop().time() + seconds
        for limit in self._limits:
            limit.reschedule(self._deadline)
