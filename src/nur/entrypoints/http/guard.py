"""Who may call: Host and Origin allow-lists against DNS rebinding, and the bearer token where one is set."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from nur.entrypoints.web.page import PREFIX

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
#: Answered without a token: they reveal nothing about what is stored.
OPEN_PATHS = frozenset({"/", "/docs", "/openapi.json", "/livez", "/readyz", "/health"})
#: A host as RFC 3986 writes it, and a port; no user name, no list.
HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\s:@,/?#\[\]]+)(?::[0-9]{1,5})?")
READING = frozenset({"GET", "HEAD", "OPTIONS"})
JSON = "application/json"
#: As the routes under /v2 answer; their module is imported with the first call to them, and not for this.
PROBLEM = "application/problem+json"
TITLES = {401: "Token needed", 403: "Web origin not allowed", 421: "Unknown host"}


@dataclass(frozen=True, slots=True)
class Callers:
    """Which names the server goes by, which web pages may call it, and the token they must have."""

    hosts: frozenset[str] = frozenset()  #: besides loopback, in small letters; `name` allows any port, `name:port` one
    origins: frozenset[str] = frozenset()  #: in small letters
    token: str | None = None

    def knows_host(self, host: str) -> bool:
        """Whether the Host header names this server, in whatever case."""
        host = host.lower()
        parsed = HOST.fullmatch(host)
        return parsed is not None and (
            parsed["name"] in LOOPBACK_NAMES or not self.hosts.isdisjoint({host, parsed["name"]})
        )

    def knows_origin(self, origin: str) -> bool:
        """Whether a web page of this origin may call; programs send no Origin."""
        scheme, _, host = origin.lower().partition("://")
        return origin.lower() in self.origins or (scheme in ("http", "https") and self.knows_host(host))

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
        refusal = self._refuse(scope["method"], scope["path"], Headers(scope=scope))
        await (refusal or self._app)(scope, receive, send)

    def _refuse(self, method: str, path: str, headers: Headers) -> JSONResponse | None:
        if not self._callers.knows_host(headers.get("host", "")):
            return _no(421, "Unknown Host. Set NUR_ALLOWED_HOSTS to the name that clients use.")
        origin = headers.get("origin")
        if origin is not None and not self._callers.knows_origin(origin):
            return _no(403, "This web origin may not call. Set NUR_ALLOWED_ORIGINS to allow it.")
        if origin is not None and method not in READING and not _asks_first(origin, headers):
            return _no(403, "A page of another origin must send Content-Type: application/json to change anything.")
        if not _is_open(path) and not self._callers.knows_token(headers.get("authorization", "")):
            refusal = _no(401, "A token is needed: send Authorization: Bearer with the server's NUR_TOKEN.")
            refusal.headers["WWW-Authenticate"] = "Bearer"
            return refusal
        return None


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(PREFIX)


def _asks_first(origin: str, headers: Headers) -> bool:
    """Whether the page is our own, or a browser asks us before it lets the page send this: it does so for JSON."""
    same = origin.lower().partition("://")[2] == headers.get("host", "").lower()
    return same or headers.get("content-type", "").partition(";")[0].strip().lower() == JSON


def _no(status: int, message: str) -> JSONResponse:
    """A problem after RFC 9457, with the three fields that every error of ours has."""
    problem = {"type": "urn:nur:problem:refused", "title": TITLES[status], "status": status, "detail": message}
    fields = {"code": "refused", "message": message, "retryable": False}
    return JSONResponse(problem | fields, status_code=status, media_type=PROBLEM)
