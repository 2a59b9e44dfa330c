"""A client of the REST application in this process."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2

from nur import bootstrap
from nur.entrypoints.rest.app import make_rest
from nur.settings import load

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from nur.bootstrap import Services


class Rest:
    """Calls routes and returns responses as a client sees them."""

    def __init__(self, client: httpx2.AsyncClient, services: Services) -> None:
        self.client = client
        self.services = services

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """The whole response."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.request(method, path, json=body, headers=named)

    async def ok(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The body of a call that must succeed."""
        response = await self.call(method, path, body, **headers)
        assert response.is_success, response.text
        return response.json() if response.content else None

    async def problem(self, status: int, method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
        """The problem document of a call that must fail."""
        response = await self.call(method, path, body, **headers)
        assert response.status_code == status, response.text
        assert response.headers["content-type"] == "application/problem+json"
        found: dict[str, Any] = response.json()
        assert found["status"] == status
        assert found["type"] == f"urn:nur:problem:{found['code']}"
        return found


@asynccontextmanager
async def rest_of(services: Services) -> AsyncIterator[Rest]:
    """A client over these services."""

    @asynccontextmanager
    async def provide() -> AsyncIterator[Services]:
        yield services

    transport = httpx2.ASGITransport(app=make_rest(provide))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
        yield Rest(client, services)


@asynccontextmanager
async def open_rest(**settings: Any) -> AsyncIterator[Rest]:
    """Context manager: a client of a running Nur."""
    async with bootstrap.running(load(**settings)) as services, rest_of(services) as rest:
        yield rest
