"""REST is imported at its first request: FastAPI takes longer to import than the server to start."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Match

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from nur.entrypoints.mcp.tool import ServicesProvider

#: What the REST application answers, besides everything under PREFIX.
PAGES = frozenset({"/openapi.json"})
PREFIX = "/v2/"


class LazyRest(BaseRoute):
    """The REST application, made on the first request for it.

    A route of its own kind: the pattern of an ordinary one matches no line break, and an id may hold one.
    """

    def __init__(self, services: ServicesProvider, *, needs_token: bool) -> None:
        self._services = services
        self._needs_token = needs_token
        self._made: asyncio.Task[ASGIApp] | None = None

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the request is ours."""
        ours = scope["type"] == "http" and (scope["path"].startswith(PREFIX) or scope["path"] in PAGES)
        return (Match.FULL if ours else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Import and make it, in a thread, then pass the request on."""
        if self._made is None:
            self._made = asyncio.create_task(self._make())
        app = await asyncio.shield(self._made)
        await app(scope, receive, send)

    async def _make(self) -> ASGIApp:
        module = await asyncio.to_thread(import_module, "nur.entrypoints.rest.app")
        app: ASGIApp = await asyncio.to_thread(module.make_rest, self._services, needs_token=self._needs_token)
        return app
