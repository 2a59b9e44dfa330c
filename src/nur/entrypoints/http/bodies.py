"""Limits of request bodies: bytes, JSON values, and the time to arrive."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from nur.domain.errors import BadRequest
from nur.domain.json_values import MAX_VALUES, check_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Enough for 64 MiB over a slow line; then a client that has stopped sending is dropped.
BODY_SECONDS = 120.0


class BoundedBody:
    """Reads a body before the application does, and refuses one that is too large, late or has too many values."""

    def __init__(
        self,
        app: ASGIApp,
        max_bytes: int,
        refuse: Callable[[int, str], Response],
        streamed: frozenset[str] = frozenset(),
    ) -> None:
        """`refuse` makes a response of a status and a message; routes of `streamed` paths read their own bodies."""
        self._app = app
        self._max_bytes = max_bytes
        self._refuse = refuse
        self._streamed = streamed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, check it, and pass it on in one piece."""
        if scope["type"] != "http" or scope["path"] in self._streamed:
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(BODY_SECONDS):
                message, body = await self._read(receive)
            if len(body) > MAX_VALUES and not _is_form(scope):
                await asyncio.to_thread(check_values, body)
        except TimeoutError:
            await self._refuse(408, "The body did not arrive in time.")(scope, receive, send)
        except BadRequest as error:
            await self._refuse(413, f"The body {error}.")(scope, receive, send)
        else:
            await self._app(scope, _replay(message, receive), send)

    async def _read(self, receive: Receive) -> tuple[Message, bytes]:
        """Return one message with the whole body, and the body. Raises BadRequest if it is too large."""
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return message, b""
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._max_bytes:
                raise BadRequest(f"has more than {self._max_bytes} bytes")
            more = message.get("more_body", False)
        body = b"".join(parts)
        return {"type": "http.request", "body": body, "more_body": False}, body


def _is_form(scope: Scope) -> bool:
    """Whether the body is a form with files, which are not JSON."""
    return Headers(scope=scope).get("content-type", "").startswith("multipart/form-data")


def _replay(message: Message, receive: Receive) -> Receive:
    messages = [message]

    async def replayed() -> Message:
        return messages.pop(0) if messages else await receive()

    return replayed
