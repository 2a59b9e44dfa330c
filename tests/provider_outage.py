"""Writes to a real server while its embedding provider is down for a while."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx2

from nur.services.indexing.index_worker import MAX_OUTAGE_RETRY_SECONDS
from tests.servers import faults
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.openai_stub import OpenAIStub

FAULTS = (faults.status(503), faults.RESET, faults.status(429), faults.HTML)
#: Time to recover: the longest wait between two attempts plus a quarter of jitter, and a reserve for a slow machine.
SOON_SECONDS = MAX_OUTAGE_RETRY_SECONDS * 1.25 + 60
LONG_EVERY = 7  #: every n-th note has several chunks
SAMPLED = 25


@dataclass
class Outage:
    """Writes during an outage; afterwards dense search finds everything, and each chunk was embedded once."""

    folder: Path
    provider: OpenAIStub
    written: dict[str, str] = field(default_factory=dict)  #: the unique words of each note
    chunks: int = 0

    async def survive(self, seconds: float, notes: int) -> None:
        """Stay down for this long and at least this many notes, then recover."""
        settings = {
            "OPENAI_API_KEY": "sk-test",
            "OPENAI_BASE_URL": self.provider.url,
            "OPENAI_EMBED_DIMS": "256",
            "OPENAI_MAX_RETRIES": "0",
            "LOG_LEVEL": "ERROR",
        }
        with NurProcess(self.folder, **settings) as server:
            async with httpx2.AsyncClient(base_url=server.url, timeout=60) as client:
                already = len(self.provider.answered)  # the check of the key at the start
                await self._be_down(client, seconds, notes)
                assert len(self.provider.answered) == already
                self.provider.heal()
                await self._recover(client)

    async def _be_down(self, client: httpx2.AsyncClient, seconds: float, notes: int) -> None:
        ends = time.monotonic() + seconds
        for number in itertools.count():
            if number >= notes and time.monotonic() >= ends:
                return
            self.provider.fail_forever(FAULTS[number // 5 % len(FAULTS)])
            await self._write(client, number)

    async def _write(self, client: httpx2.AsyncClient, number: int) -> None:
        """Write a note: it is acknowledged, and found lexically at once."""
        word = f"tower{number} gate{number} moat{number}"  # one word alone shares its hashed vector with others
        more = " ".join(f"Floor {floor} of {word} has {floor} lamps." for floor in range(100))
        text = f"{word} stood in the outage. {more if number % LONG_EVERY == 0 else ''}"
        stored = await client.post("/v2/notes", json={"text": text})
        assert stored.status_code == 201
        receipt = stored.json()
        assert receipt["index_state"] == "pending"
        self.written[receipt["note_id"]] = word
        self.chunks += receipt["chunk_count"]
        answer = (await client.post("/v2/searches", json={"query": word})).json()
        assert answer["degraded"] == ["dense"]
        assert [item["note_id"] for item in answer["items"]] == [receipt["note_id"]]

    async def _recover(self, client: httpx2.AsyncClient) -> None:
        """Check that the backlog is soon empty and nothing was embedded twice."""
        async with asyncio.timeout(SOON_SECONDS):
            while (await client.get("/v2/admin/outbox")).json()["pending"]:  # noqa: ASYNC110  # asked over HTTP
                await asyncio.sleep(0.2)
        assert (await client.get("/v2/admin/outbox")).json()["dead"] == 0
        embedded = Counter(text for request in self.provider.answered for text in request.inputs if "tower" in text)
        assert len(embedded) == self.chunks
        assert set(embedded.values()) == {1}
        for name, word in list(self.written.items())[:: max(1, len(self.written) // SAMPLED)]:
            answer = (await client.post("/v2/searches", json={"query": word, "mode": "dense"})).json()
            assert answer["degraded"] == []
            assert answer["items"][0]["note_id"] == name
