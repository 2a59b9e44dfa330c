"""Limits on connections: their number, and the time to send a request's headers."""

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

#: From the connection, or the first byte after a response, to the end of the headers.
HEAD_SECONDS = 20.0
MAX_CONNECTIONS = 1000
#: File descriptors reserved for the store, the index and the embedding provider.
SPARE_DESCRIPTORS = 128
#: Minimum time between two identical log lines.
LOG_EVERY_SECONDS = 10.0
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def most_connections() -> int:
    """Connection limit: what the limit on open files allows, at most MAX_CONNECTIONS."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MAX_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return min(MAX_CONNECTIONS, max(files - SPARE_DESCRIPTORS, files // 2))


class ThrottledWarning:
    """Logs a warning at most once per interval, with the number of occurrences."""

    def __init__(self, event: str, seconds: float = LOG_EVERY_SECONDS) -> None:
        self._event = event
        self._seconds = seconds
        self._times = 0
        self._next = 0.0

    def warn(self) -> None:
        """Count an occurrence, and log if the interval is over."""
        self._times += 1
        if time.monotonic() >= self._next:
            log.warning(self._event, times=self._times)
            self._times = 0
            self._next = time.monotonic() + self._seconds


class BoundedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # chosen by what is installed
    """Drops connections above the limit, and those that do not send a request's headers in time."""

    head_seconds = HEAD_SECONDS
    _too_many = ThrottledWarning("too_many_connections")
    _deadline: asyncio.TimerHandle | None = None

    def max_connections(self) -> int:
        """Maximum number of open connections."""
        return most_connections()

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Accept the connection, or drop it if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.max_connections():
            self._too_many.warn()
            transport.abort()
        else:
            self._await_head()

    def data_received(self, data: bytes) -> None:
        """Parse the data and update the deadline."""
        super().data_received(data)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        """Start the deadline for headers, unless it is running; cancel it while a request is being answered."""
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
    """Exception handler for the event loop, which would log every one of thousands of refused connections."""
    exhausted = ThrottledWarning("out_of_descriptors")

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _EXHAUSTED:
            exhausted.warn()
        else:
            loop.default_exception_handler(context)

    return handle
