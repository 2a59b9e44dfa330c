"""The store behind a server: opened while the server listens already, and opened again when its model changes.

It knows the calls in flight, which a stop waits for.
"""

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

#: Longer than any call takes that does not hang: the embedding deadline and some.
QUIET_SECONDS = 60.0


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


class StoreLifecycle:
    """A store on its way up: the server answers `initialize` while SQL and the model are still being imported."""

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
        """The services for one call, once they are open. Raises what keeps them from opening."""
        task = None
        while task is not self._task:  # it may have been opened again while this call waited for it
            task = self._task
            services = await asyncio.shield(task)
        async with self.calls.one():
            yield services

    def reopen(self) -> None:
        """Close the store and open it again: calls that are being answered end first, later ones wait."""
        self._task = asyncio.create_task(self._open_again(), name="nur-opening")
        self._reopened.set()

    async def watch(self) -> None:
        """Never ends, but raises what kept the store from being opened again."""
        while True:
            await self._reopened.wait()
            self._reopened.clear()
            await asyncio.shield(self._task)

    async def _open_again(self) -> Services:
        log.info("store_reopening", calls=len(self.calls))
        await self.calls.wait_for_none(QUIET_SECONDS)
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
