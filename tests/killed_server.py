"""Clients that write, edit and delete notes over REST while the server is killed and restarted at random.

Each client owns its notes and keeps a plain record of what was acknowledged. A call that dies with the server is asked
again under its idempotency key, and must answer as if nothing had happened: done once, whenever the server died.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx2

from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from pathlib import Path

CLIENTS = 8
LAST_NOTES = 8  #: written when no more kills come
SAMPLES = 100  #: notes that are looked up in the index by their vectors
PATIENCE_SECONDS = 120.0


@dataclass
class Onslaught:
    """A server under fire, and what must be true of it in the end."""

    folder: Path
    seed: int
    between_kills: tuple[int, int] = (5, 150)  #: calls answered in each life of the server, however slow it is
    texts: dict[str, str] = field(default_factory=dict)  #: what is acknowledged, by note
    deleted: set[str] = field(default_factory=set)
    restarts: int = 0

    def __post_init__(self) -> None:
        self._server = NurProcess(self.folder, LOG_LEVEL="ERROR")
        self._random = random.Random(self.seed)
        self._up = asyncio.Event()
        self._over = asyncio.Event()
        self._address = ""
        self._acknowledged = 0

    async def survive(self, notes: int) -> None:
        """Write so many notes, edit half of them and delete a quarter, under kill -9."""
        await self._start()
        killing = asyncio.create_task(self._kill_and_restart())
        try:
            shares = [notes // CLIENTS + (place < notes % CLIENTS) for place in range(CLIENTS)]
            await asyncio.gather(*(self._client(place, share) for place, share in enumerate(shares)))
            self._over.set()
            await killing
            # Opening a store fills its index from the ledger; these edits and deletions must reach it by themselves.
            await self._client(CLIENTS, LAST_NOTES)
            await self._check()
        finally:
            self._over.set()
            await asyncio.gather(killing, return_exceptions=True)
            await self._end()

    async def _end(self) -> None:
        await asyncio.to_thread(self._server.kill)

    async def _start(self) -> None:
        await asyncio.to_thread(self._server.start)
        self._address = self._server.url
        self._up.set()

    async def _kill_and_restart(self) -> None:
        """Until it is over; leaves the server up.

        Asked to end, never cancelled: a cancelled task would leave its thread at work, which kills or starts a server
        that nobody waits for any more.
        """
        while True:
            target = self._acknowledged + self._random.randint(*self.between_kills)
            while self._acknowledged < target:
                if self._over.is_set():
                    return
                await asyncio.sleep(self._random.uniform(0.001, 0.05))
            self._up.clear()
            await asyncio.to_thread(self._server.kill)
            self.restarts += 1
            await self._start()

    async def _client(self, place: int, notes: int) -> None:
        for number in range(notes):
            text = f"Client {place} wrote note {number}: {'lamp ' * (number % 7)}{'hall. ' * (number % 300)}"
            if number % 5 == 4:  # what happens twice is two events: nothing but the key keeps a second try from that
                text = "The bell rang."
            kind = "events" if number % 5 == 4 else "notes"
            receipt = await self._call("POST", f"/v2/{kind}", {"text": text}, expect=201)
            name = receipt["note_id"]
            assert name not in self.texts, "an id was given twice"
            self.texts[name] = text
            if number % 2:
                self.texts[name] = f"Client {place} edited note {number}."
                edited = await self._call("PATCH", f"/v2/notes/{name}", {"text": self.texts[name]}, 1, expect=200)
                assert (edited["revision"], edited["version"]) == (2, 2)
            if number % 4 == 3:
                await self._call("DELETE", f"/v2/notes/{name}", None, 2, expect=204)
                del self.texts[name]
                self.deleted.add(name)

    async def _call(self, method: str, path: str, body: Any, revision: int | None = None, *, expect: int) -> Any:
        """Ask until there is an answer. A write that was committed when the server died answers as if it had not."""
        headers = {"Idempotency-Key": uuid4().hex} | ({} if revision is None else {"If-Match": f'"{revision}"'})
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                await self._up.wait()
                try:
                    async with httpx2.AsyncClient(base_url=self._somewhere(), timeout=30) as client:
                        response = await client.request(method, path, json=body, headers=headers)
                except httpx2.HTTPError:
                    await asyncio.sleep(0.05)
                    continue
                if response.status_code in (409, 503) and response.json()["retryable"]:
                    await asyncio.sleep(0.05)
                    continue
                assert response.status_code == expect, (method, path, response.status_code, response.text[:300])
                self._acknowledged += 1
                return response.json() if response.content else None

    def _somewhere(self) -> str:
        """Where to send the next call."""
        return self._address

    async def _check(self) -> None:
        """Nothing lost, nothing doubled, and the index as the ledger is."""
        async with httpx2.AsyncClient(base_url=self._address, timeout=60) as client:
            existing = await _every_note(client)
            assert existing == self.texts
            for name in list(self.deleted)[:20]:
                assert (await client.get(f"/v2/notes/{name}")).status_code == 404
            await _indexed(client)
            newest = list(self.texts)[-LAST_NOTES:]
            for name in {*newest, *self._random.sample(list(self.texts), min(len(self.texts), SAMPLES))}:
                await self._found_by_its_vector(client, name)

    async def _found_by_its_vector(self, client: httpx2.AsyncClient, name: str) -> None:
        """Asked with a note's own text, vectors alone find it; notes of the same text are one item."""
        question = {"query": self.texts[name], "mode": "dense", "top_k": 100, "payload": "l0"}
        items = (await client.post("/v2/searches", json=question)).json()["items"]
        assert name in {found for item in items for found in (item["note_id"], *item["duplicates"])}


async def _every_note(client: httpx2.AsyncClient) -> dict[str, str]:
    existing: dict[str, str] = {}
    cursor = ""
    while True:
        page = (
            await client.get("/v2/notes", params={"limit": 200, "text": True, **({"cursor": cursor} if cursor else {})})
        ).json()
        for note in page["notes"]:
            assert note["note_id"] not in existing
            existing[note["note_id"]] = note["text"]
        cursor = page["next_cursor"]
        if cursor is None:
            return existing


async def _indexed(client: httpx2.AsyncClient) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await client.get("/v2/admin/outbox")).json()["pending"]:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    assert (await client.get("/v2/admin/outbox")).json()["dead"] == 0
