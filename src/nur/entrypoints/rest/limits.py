"""What keeps a request within bounds: the size of its body, and no crash that leaves without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from nur.observability.events import EventLog, traced

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = EventLog("Rest")

#: A text may have ten million characters, four bytes each, and JSON escapes some of them.
MOST_BODY_BYTES = 64 * 1024 * 1024
TOO_LARGE = f"The body has more than {MOST_BODY_BYTES} bytes."


class BodyLimit:
    """Stops reading a body that is too large."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what comes in."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        left = MOST_BODY_BYTES
        too_large = announced.isdigit() and int(announced[:20]) > left

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0 or too_large:
                raise HTTPException(413, TOO_LARGE)
            return message

        await self._app(scope, counted, send)


class Contained:
    """Gives each request a trace id; a bug is logged where it happened, without its text, and goes no further."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; the application inside has answered before it raises."""
        with traced() as call_id:
            scope.setdefault("state", {})["call_id"] = call_id
            try:
                await self._app(scope, receive, send)
            except Exception:  # noqa: BLE001  # the client has its answer, the log learns where
                log.crash("request_crashed", method=scope.get("method", ""))
