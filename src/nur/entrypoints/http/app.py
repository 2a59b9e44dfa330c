"""The HTTP application and its routes: / and /web (the page), /mcp, /v2, /health, /livez, /readyz, /metrics."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

from mcp_types import INVALID_REQUEST
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Match, Route

from nur.entrypoints.http.bodies import BoundedBody
from nur.entrypoints.http.guard import AllowedCallers, Guard
from nur.entrypoints.mcp.server import MAX_BODY_BYTES
from nur.entrypoints.web.page import page_routes
from nur.observability import metrics
from nur.observability.events import SERVICE
from nur.services.health import HealthStatus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.server import MCPServer
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from nur.entrypoints.mcp.tool import ServicesProvider


#: Paths of the REST application besides those under PREFIX.
PATHS = frozenset({"/openapi.json"})
PREFIX = "/v2/"


class LazyRest(BaseRoute):
    """Route to the REST application, which is imported and built on its first request.

    Not an ordinary Route: its pattern does not match line breaks, which an id may contain.
    """

    def __init__(self, services: ServicesProvider, *, needs_token: bool) -> None:
        self._services = services
        self._needs_token = needs_token
        self._made: asyncio.Task[ASGIApp] | None = None

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the request belongs to the REST application."""
        is_rest = scope["type"] == "http" and (scope["path"].startswith(PREFIX) or scope["path"] in PATHS)
        return (Match.FULL if is_rest else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Build the application once, in a thread, and pass the request on."""
        if self._made is None:
            self._made = asyncio.create_task(self._make())
        app = await asyncio.shield(self._made)
        await app(scope, receive, send)

    async def _make(self) -> ASGIApp:
        module = await asyncio.to_thread(import_module, "nur.entrypoints.rest.app")
        app: ASGIApp = await asyncio.to_thread(module.make_rest, self._services, needs_token=self._needs_token)
        return app


class _Mcp:
    """The MCP endpoint as a plain ASGI application, so that /mcp and /mcp/ both answer without a redirect."""

    def __init__(self, server: MCPServer) -> None:
        self._bounded = BoundedBody(server.session_manager.handle_request, MAX_BODY_BYTES, _refuse)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._bounded(scope, receive, send)


def _refuse(status: int, message: str) -> Response:
    """JSON-RPC error without an id, which is unknown before the body is parsed."""
    error = {"code": INVALID_REQUEST, "message": message}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, status)


def make_app(services: ServicesProvider, server: MCPServer, callers: AllowedCallers) -> Starlette:
    """Build the HTTP application; it accepts requests while the store is still opening."""

    async def health(_: Request) -> Response:
        async with services() as opened:
            report = await opened.health()
        body = {
            "status": report.status,
            "service": SERVICE,
            "version": version("nur-memory"),
            "checks": report.checks,
            "timestamp": report.at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        }
        return JSONResponse(body, status_code=503 if report.status is HealthStatus.UNHEALTHY else 200)

    async def live(_: Request) -> Response:
        return PlainTextResponse("ok")

    async def ready(_: Request) -> Response:
        async with services() as opened:
            store = await opened.health.store()
        if store["status"] is HealthStatus.HEALTHY:
            return PlainTextResponse("ok")
        return PlainTextResponse(str(store["error"]), status_code=503)

    async def exposition(_: Request) -> Response:
        return Response(metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with server.session_manager.run():
            yield

    mcp = _Mcp(server)
    routes: list[BaseRoute] = [
        *page_routes(),
        # No GET: the server opens no stream of its own, and an open stream would delay the shutdown.
        Route("/mcp", mcp, methods=["POST"]),
        Route("/mcp/", mcp, methods=["POST"]),
        Route("/health", health),
        Route("/livez", live),
        Route("/readyz", ready),
        Route("/metrics", exposition),
        LazyRest(services, needs_token=callers.token is not None),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, callers=callers)], lifespan=lifespan)
    app.router.redirect_slashes = False
    return app
