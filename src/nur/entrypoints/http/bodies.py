"""Request bodies within bounds: how many values they hold, and how long they may take to arrive."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from nur.domain.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: A note's metadata may hold some ten thousand. Parsing and checking that many takes a tenth of a second.
MOST_VALUES = 100_000
#: 64 MiB over a slow line; a client that has stopped sending is dropped after it.
BODY_SECONDS = 120.0
#: A body up to this many bytes is checked without yielding to other threads.
_WINDOW = 64 * 1024
_TOO_MANY = f"The body holds more than {MOST_VALUES} values."
_IN_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)


def check_values(body: bytes) -> None:
    """Count a JSON body's values without parsing it: every comma and bracket outside strings. Raises BadRequest."""
    if len(body) <= MOST_VALUES:
        return
    place, values, end = 0, 0, len(body)
    while place < end:
        quote = body.find(b'"', place, place + _WINDOW)
        outside = min(place + _WINDOW, end) if quote < 0 else quote
        values += sum(body.count(mark, place, outside) for mark in (b",", b"[", b"{"))
        if values > MOST_VALUES:
            raise BadRequest(_TOO_MANY)
        place = outside if quote < 0 else _end_of_string(body, quote + 1)


def _end_of_string(body: bytes, place: int) -> int:
    """Where the string that is open at `place` has ended; window by window, so that other threads run in between."""
    while place < len(body):
        found = _IN_STRING.match(body, place, place + _WINDOW)
        stop = found.end() if found else place
        if body[stop : stop + 1] == b'"':
            return stop + 1
        # At the end of the window, maybe before a backslash whose character lies behind it.
        place = stop if stop > place else stop + 2
    return place


class BoundedBody:
    """Reads a body before the application does, and refuses one that is late or holds too many values."""

    def __init__(
        self,
        app: ASGIApp,
        most_bytes: int,
        refuse: Callable[[int, str], Response],
        streamed: frozenset[str] = frozenset(),
    ) -> None:
        """`refuse` makes the answer of a status and a message; bodies of `streamed` paths are read by their routes."""
        self._app = app
        self._most_bytes = most_bytes
        self._refuse = refuse
        self._streamed = streamed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read, check, and hand the body on in one piece; one that is too large is left to the application."""
        if scope["type"] != "http" or scope["path"] in self._streamed:
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(BODY_SECONDS):
                messages, body = await self._read(receive)
            if len(body) > MOST_VALUES and not _is_form(scope):
                await asyncio.to_thread(check_values, body)
        except TimeoutError:
            await self._refuse(408, "The body did not arrive in time.")(scope, receive, send)
        except BadRequest as error:
            await self._refuse(413, str(error))(scope, receive, send)
        else:
            await self._app(scope, _replay(messages, receive), send)

    async def _read(self, receive: Receive) -> tuple[list[Message], bytes]:
        """The messages to hand on, and the body if it is whole and not too large."""
        parts: list[bytes] = []
        size, more = 0, True
        while more and size <= self._most_bytes:
            message = await receive()
            if message["type"] != "http.request":
                return [message], b""
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            more = message.get("more_body", False)
        body = b"".join(parts)
        return [{"type": "http.request", "body": body, "more_body": more}], b"" if more else body


def _is_form(scope: Scope) -> bool:
    """Whether the body is a form with files, which are not JSON."""
    return Headers(scope=scope).get("content-type", "").startswith("multipart/form-data")


def _replay(messages: list[Message], receive: Receive) -> Receive:
    async def replayed() -> Message:
        return messages.pop(0) if messages else await receive()

    return replayed
