"""Two servers on one PostgreSQL, stopped and started one after the other while clients write and search."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import cycle
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx2
import pytest

from tests.killed_server import every_note
from tests.servers.nur_server import NurProcess
from tests.servers.postgres_server import shared_cluster
from tests.store_backends import empty_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLIENTS = 4


@dataclass
class Load:
    """Clients that send each call to one server, and once more to the other one when that fails."""

    urls: list[str]
    over: asyncio.Event = field(default_factory=asyncio.Event)
    calls: int = 0
    repeated: int = 0

    async def client(self, place: int) -> int:
        """Write, search and read until it is over; returns how many notes were written."""
        order = cycle([place % 2, 1 - place % 2])
        written = 0
        async with httpx2.AsyncClient(timeout=30) as http:
            while not self.over.is_set():
                word = f"w{place}x{written}"
                stored = await self._call(http, order, "POST", "/v2/notes", {"text": f"The word is {word}."}, 201)
                found = await self._call(http, order, "POST", "/v2/searches", {"query": word}, 200)
                assert stored["note_id"] in {item["note_id"] for item in found["items"]}
                await self._call(http, order, "GET", f"/v2/notes/{stored['note_id']}", None, 200)
                written += 1
        return written

    async def _call(
        self, http: httpx2.AsyncClient, order: Iterator[int], method: str, path: str, body: Any, expect: int
    ) -> Any:
        headers = {"Idempotency-Key": uuid4().hex}
        self.calls += 1
        for attempt in (1, 2):
            url = f"{self.urls[next(order)]}{path}"
            try:
                response = await http.request(method, url, json=body, headers=headers)
            except httpx2.HTTPError:
                if attempt == 2:
                    raise
            else:
                if response.status_code == expect:
                    return response.json()
                assert attempt == 1, (method, path, response.status_code, response.text[:300])
                assert response.json()["retryable"], response.text[:300]
            self.repeated += 1
        raise AssertionError("unreachable: the second attempt returns or raises")


@pytest.fixture
def url() -> str:
    """An empty database."""
    return shared_cluster().emptied(empty_database())


@pytest.mark.timeout(300)
async def test_no_call_fails_twice_while_servers_are_restarted_in_turn(url: str, tmp_path: Path) -> None:
    settings = {"DATABASE_URL": url, "DATABASE_ALLOW_UNSYNCED": "1"}
    servers = [NurProcess(tmp_path / f"{n}", **settings, EMBEDDINGS="local", LOG_LEVEL="ERROR") for n in range(2)]
    try:
        for server in servers:
            await asyncio.to_thread(server.start)
        load = Load([server.url for server in servers])
        clients = [asyncio.create_task(load.client(place)) for place in range(CLIENTS)]
        for place in range(2):
            await asyncio.sleep(0.5)
            assert await asyncio.to_thread(servers[place].stop) == 0
            await asyncio.to_thread(servers[place].start)
            load.urls[place] = servers[place].url
        load.over.set()
        written = sum(await asyncio.gather(*clients))
        assert load.repeated  # else nobody met a restart
        async with httpx2.AsyncClient(base_url=load.urls[1], timeout=30) as http:
            assert len(await every_note(http)) == written
    finally:
        for server in servers:
            server.kill()
