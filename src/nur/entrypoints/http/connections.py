"""Connections within bounds: how many there are, and how long one may take to send a request's head."""

from __future__ import annotations

import errno
import time
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from nur.observability.events import EventLog

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

log = EventLog("Server")

#: From the connection, or from the first byte after an answer, to the end of the headers.
HEAD_SECONDS = 20.0
MOST_CONNECTIONS = 1000
#: Descriptors that connections leave to the store, the index and the embedding provider.
SPARE_DESCRIPTORS = 128
#: Between two identical log lines.
LOG_EVERY_SECONDS = 10.0
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def most_connections() -> int:
    """As many as the limit of open files allows, and no more than MOST_CONNECTIONS."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return min(MOST_CONNECTIONS, max(files - SPARE_DESCRIPTORS, files // 2))


class Seldom:
    """Logs a warning at most every so often, with how many times it would have been logged."""

    def __init__(self, event: str, seconds: float = LOG_EVERY_SECONDS) -> None:
        self._event = event
        self._seconds = seconds
        self._times = 0
        self._next = 0.0

    def warn(self) -> None:
        """It happened once more."""
        self._times += 1
        if time.monotonic() >= self._next:
            log.warning(self._event, times=self._times)
            self._times = 0
            self._next = time.monotonic() + self._seconds


class BoundedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # chosen by what is installed
    """Drops a connection that is one too many, or that does not come to its request."""

    head_seconds = HEAD_SECONDS
    _too_many = Seldom("too_many_connections")
    _deadline: asyncio.TimerHandle | None = None

    def most(self) -> int:
        """How many connections may be open."""
        return most_connections()

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Take the connection, or drop it."""
        super().connection_made(transport)
        if len(self.connections) > self.most():
            self._too_many.warn()
            transport.abort()
        else:
            self._await_head()

    def data_received(self, data: bytes) -> None:
        """Parse what came in."""
        super().data_received(data)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        """Start the time for a head, unless it runs already; end it when a request is being answered."""
        if not self._is_between_requests():
            self._stop_waiting()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.head_seconds, self._drop)

    def _is_between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _drop(self) -> None:
        self._deadline = None
        if self._is_between_requests():
            self.transport.abort()


def on_loop_error() -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """An exception handler for the event loop: it reports each of thousands of refused connections."""
    exhausted = Seldom("out_of_descriptors")

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _EXHAUSTED:
            exhausted.warn()
        else:
            loop.default_exception_handler(context)

    return handle
