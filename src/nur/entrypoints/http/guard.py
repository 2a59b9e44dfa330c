"""Who may call: Host and Origin allow-lists against DNS rebinding, and the bearer token where one is set."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
#: Answered without a token: they say nothing about what is stored.
OPEN_PATHS = frozenset({"/livez", "/readyz", "/health"})


@dataclass(frozen=True, slots=True)
class Callers:
    """Which names the server goes by, which web pages may call it, and the token they must have."""

    hosts: frozenset[str] = frozenset()  #: besides loopback; `name` allows any port, `name:port` that one
    origins: frozenset[str] = frozenset()
    token: str | None = None

    def knows_host(self, host: str) -> bool:
        """Whether the Host header names this server."""
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        return name in LOOPBACK_NAMES or host in self.hosts or name in self.hosts

    def knows_origin(self, origin: str) -> bool:
        """Whether a web page of this origin may call; programs send no Origin."""
        parts = urlsplit(origin)
        return origin in self.origins or (parts.scheme in ("http", "https") and self.knows_host(parts.netloc))

    def knows_token(self, authorization: str) -> bool:
        """Whether the Authorization header holds the token."""
        if self.token is None:
            return True
        scheme, _, given = authorization.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self.token.encode())


class Guard:
    """Turns unknown callers away before any route sees them."""

    def __init__(self, app: ASGIApp, callers: Callers) -> None:
        self._app = app
        self._callers = callers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the headers, then let the request through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Blanks around a value are no part of it (RFC 9110, 5.5); uvicorn's faster parser leaves those behind it.
        scope = {**scope, "headers": [(name, value.strip()) for name, value in scope["headers"]]}
        refusal = self._refuse(scope["path"], Headers(scope=scope))
        await (refusal or self._app)(scope, receive, send)

    def _refuse(self, path: str, headers: Headers) -> JSONResponse | None:
        if not self._callers.knows_host(headers.get("host", "")):
            return _no(421, "Unknown Host. Set NUR_ALLOWED_HOSTS to the name that clients use.")
        origin = headers.get("origin")
        if origin is not None and not self._callers.knows_origin(origin):
            return _no(403, "This web origin may not call. Set NUR_ALLOWED_ORIGINS to allow it.")
        if path not in OPEN_PATHS and not self._callers.knows_token(headers.get("authorization", "")):
            refusal = _no(401, "A token is needed: send Authorization: Bearer with the server's NUR_TOKEN.")
            refusal.headers["WWW-Authenticate"] = "Bearer"
            return refusal
        return None


def _no(status: int, message: str) -> JSONResponse:
    return JSONResponse({"code": "refused", "message": message, "retryable": False}, status_code=status)
