"""Access checks: Host and Origin allow-lists against DNS rebinding, and the bearer token if one is set."""

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
#: Open without a token: they reveal nothing about stored notes.
OPEN_PATHS = frozenset({"/", "/docs", "/openapi.json", "/livez", "/readyz", "/health"})
#: A host as in RFC 3986 and an optional port; no user name, no list.
HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\s:@,/?#\[\]]+)(?::[0-9]{1,5})?")
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
JSON = "application/json"
#: Media type of errors, as under /v2. Not imported from there: that module is loaded on its first request.
PROBLEM = "application/problem+json"
TITLES = {401: "Token needed", 403: "Web origin not allowed", 421: "Unknown host"}


@dataclass(frozen=True, slots=True)
class AllowedCallers:
    """Allowed hosts and web origins, and the required token."""

    hosts: frozenset[str] = frozenset()  #: besides loopback, in lower case; `name` allows any port, `name:port` one
    origins: frozenset[str] = frozenset()  #: in lower case
    token: str | None = None

    def allows_host(self, host: str) -> bool:
        """Whether the Host header names this server, in any case."""
        host = host.lower()
        parsed = HOST.fullmatch(host)
        return parsed is not None and (
            parsed["name"] in LOOPBACK_NAMES or not self.hosts.isdisjoint({host, parsed["name"]})
        )

    def allows_origin(self, origin: str) -> bool:
        """Whether a web page of this origin may call; other programs send no Origin."""
        scheme, _, host = origin.lower().partition("://")
        return origin.lower() in self.origins or (scheme in ("http", "https") and self.allows_host(host))

    def allows_token(self, authorization: str) -> bool:
        """Whether the Authorization header holds the token."""
        if self.token is None:
            return True
        scheme, _, given = authorization.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self.token.encode())


class Guard:
    """Refuses requests that are not allowed before any route sees them."""

    def __init__(self, app: ASGIApp, callers: AllowedCallers) -> None:
        self._app = app
        self._callers = callers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the headers, then pass the request on or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Whitespace around a value is not part of it (RFC 9110, 5.5); uvicorn's faster parser keeps trailing blanks.
        scope = {**scope, "headers": [(name, value.strip()) for name, value in scope["headers"]]}
        refusal = self._refuse(scope["method"], scope["path"], Headers(scope=scope))
        await (refusal or self._app)(scope, receive, send)

    def _refuse(self, method: str, path: str, headers: Headers) -> JSONResponse | None:
        if not self._callers.allows_host(headers.get("host", "")):
            return _refusal(421, "Unknown Host. Add the name that clients use to NUR_ALLOWED_HOSTS.")
        origin = headers.get("origin")
        if origin is not None and not self._callers.allows_origin(origin):
            return _refusal(403, "This web origin is not allowed. Add it to NUR_ALLOWED_ORIGINS.")
        if origin is not None and method not in SAFE_METHODS and not _is_own_or_preflighted(origin, headers):
            return _refusal(403, "A page of another origin must send Content-Type: application/json to make changes.")
        if not _is_open(path) and not self._callers.allows_token(headers.get("authorization", "")):
            refusal = _refusal(401, "A token is needed: send Authorization: Bearer with the server's NUR_TOKEN.")
            refusal.headers["WWW-Authenticate"] = "Bearer"
            return refusal
        return None


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(PREFIX)


def _is_own_or_preflighted(origin: str, headers: Headers) -> bool:
    """Whether the page is the server's own, or the body is JSON, for which browsers send a preflight request first."""
    is_own = origin.lower().partition("://")[2] == headers.get("host", "").lower()
    return is_own or headers.get("content-type", "").partition(";")[0].strip().lower() == JSON


def _refusal(status: int, message: str) -> JSONResponse:
    """Problem response (RFC 9457), with the three fields that all of Nur's errors have."""
    problem = {"type": "urn:nur:problem:refused", "title": TITLES[status], "status": status, "detail": message}
    fields = {"code": "refused", "message": message, "retryable": False}
    return JSONResponse(problem | fields, status_code=status, media_type=PROBLEM)
