"""Open the server's store while it already listens, reopen it when the model changes, and count calls in flight."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Self

from nur.domain.errors import NurError, Unavailable
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from nur.bootstrap import Services
    from nur.settings import Settings


STOPPING = "The server is stopping and could not finish this call in time. Try again; storing the same text is safe."

log = EventLog("Server")

#: How long reopening waits for calls in flight: longer than the embedding deadline, so only a hanging call is cut off.
REOPEN_WAIT_SECONDS = 60.0


class CallsInFlight:
    """Counts the calls in flight, waits for them, and ends those that exceed the deadline of a shutdown."""

    def __init__(self) -> None:
        self._limits: set[asyncio.Timeout] = set()
        self._deadline: float | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    def __len__(self) -> int:
        return len(self._limits)

    @contextlib.asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Count a call while the block runs. Raises Unavailable at the deadline of a shutdown."""
        limit = asyncio.timeout_at(self._deadline)
        self._limits.add(limit)
        self._idle.clear()
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
                self._idle.set()

    async def wait_until_idle(self, seconds: float) -> None:
        """Return when no call is in flight, or after this many seconds."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), seconds)

    def stop(self, seconds: float) -> None:
        """Set a deadline this many seconds from now for all calls, including later ones."""
        self._deadline = asyncio.get_running_loop().time() + seconds
        for limit in self._limits:
            limit.reschedule(self._deadline)


class StoreLifecycle:
    """Opens the store in the background: the server answers `initialize` while SQL and the model are imported."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stack = contextlib.AsyncExitStack()
        self.calls = CallsInFlight()
        self._reopened = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._open(), name="nur-opening")
        return self

    async def __aexit__(self, *_: object) -> None:
        with contextlib.suppress(NurError, asyncio.CancelledError):
            await self._task
        await self._stack.aclose()

    @asynccontextmanager
    async def services(self) -> AsyncIterator[Services]:
        """Services for one call; waits until the store is open. Raises the NurError that keeps it from opening."""
        task = None
        while task is not self._task:  # the store may have been reopened while this call waited
            task = self._task
            services = await asyncio.shield(task)
        async with self.calls.call():
            yield services

    def reopen(self) -> None:
        """Close the store and open it again: calls in flight finish first, later calls wait."""
        self._task = asyncio.create_task(self._open_again(), name="nur-opening")
        self._reopened.set()

    async def watch(self) -> None:
        """Run until cancelled; raises the error if reopening the store fails."""
        while True:
            await self._reopened.wait()
            self._reopened.clear()
            await asyncio.shield(self._task)

    async def _open_again(self) -> Services:
        log.info("store_reopening", calls=len(self.calls))
        await self.calls.wait_until_idle(REOPEN_WAIT_SECONDS)
        await self._stack.aclose()
        return await self._open()

    async def _open(self) -> Services:
        bootstrap = await asyncio.to_thread(import_module, "nur.bootstrap")
        try:
            services: Services = await self._stack.enter_async_context(bootstrap.running(self._settings))
        except NurError as error:
            log.critical("start_refused", error=error.code)
            raise
        services.reembed.reopen = services.watch_model.reopen = self.reopen
        return services
