"""Clients that write, edit and delete notes over REST while the server is killed and restarted at random.

Each client owns its notes and records what was acknowledged. A call that fails because the server died is retried
with its idempotency key, and must succeed with its effect applied once. For some notes, clients check right after the
acknowledgement that a search returns their current text.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx2

from nur.adapters.local.english_words import read_table
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from pathlib import Path

CLIENTS = 8
LAST_NOTES = 40  #: written after the last kill
SAMPLES = 100  #: notes looked up in the index by their vectors
PATIENCE_SECONDS = 120.0
INDEXING_SECONDS = 600.0  #: time to index what clients stored faster than it was indexed
BELL = "The bell rang."
#: Characters. A longer note has several chunks, whose vectors differ from its text's and resemble other notes'.
ONE_CHUNK = 1_000
#: Kills per run, whatever its length: each takes some seconds.
STRIKES = 45
#: Some thousand words. With a few dozen, each would be common in the store and of little weight in a query.
WORDS = sorted(
    {
        word
        for words in read_table().values()
        for word in words.split()
        if word.isascii() and word.isalpha() and 4 <= len(word) <= 10
    }
)


@dataclass
class Onslaught:
    """A server that gets killed, and the checks at the end."""

    folder: Path
    seed: int
    between_kills: tuple[int, int] | None = None  #: calls answered between two kills, however slow the server is
    texts: dict[str, str] = field(default_factory=dict)  #: acknowledged texts, by note
    deleted: set[str] = field(default_factory=set)
    restarts: int = 0
    searches: int = 0

    def __post_init__(self) -> None:
        self._server = NurProcess(self.folder, LOG_LEVEL="ERROR")
        self._random = random.Random(self.seed)
        self._up = asyncio.Event()
        self._over = asyncio.Event()
        self._address = ""
        self._acknowledged = 0
        self._between = (0, 0)
        self._http = httpx2.AsyncClient(timeout=30)  # shared: creating a client takes longer than most calls
        self._used: set[frozenset[str]] = set()

    async def survive(self, notes: int) -> None:
        """Write this many notes, edit half of them and delete a quarter, under kill -9."""
        self._between = self.between_kills or _between(notes)
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
            await self._http.aclose()
            await self._end()

    async def _end(self) -> None:
        await asyncio.to_thread(self._server.kill)

    async def _start(self) -> None:
        await asyncio.to_thread(self._server.start)
        self._address = self._server.url
        self._up.set()

    async def _kill_and_restart(self) -> None:
        """Kill and restart the server until the clients are done; leaves it running.

        The task is asked to end and never cancelled: a cancelled task would leave its thread running, which could kill
        or start a server later.
        """
        while True:
            target = self._acknowledged + self._random.randint(*self._between)
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
            word, edited_word = f"w{place}x{number}", f"e{place}x{number}"  # that no other note has
            text = f"Client {place} wrote note {word}: " + f"{self._some_words()}. " * (1 + number % 60)
            if number % 5 == 4:  # what happens twice is two events: nothing but the key keeps a second try from that
                text = BELL
            kind = "events" if number % 5 == 4 else "notes"
            receipt = await self._call("POST", f"/v2/{kind}", {"text": text}, expect=201)
            note = receipt["note_id"]
            assert note not in self.texts, "an id was given twice"
            self.texts[note] = text
            if number % 10 == 0:
                assert note in await self._found(word)
            if number % 2:
                self.texts[note] = f"Client {place} edited note {edited_word}: {self._some_words()}."
                edited = await self._call("PATCH", f"/v2/notes/{note}", {"text": self.texts[note]}, 1, expect=200)
                assert (edited["revision"], edited["version"]) == (2, 2)
            if number % 20 in (1, 13):
                assert self.texts[note] in (await self._found(edited_word))[note]
                assert note not in await self._found(word)
            if number % 4 == 3:
                await self._call("DELETE", f"/v2/notes/{note}", None, 2, expect=204)
                del self.texts[note]
                self.deleted.add(note)
            if number % 20 == 7:
                assert note not in await self._found(edited_word)

    async def _found(self, word: str) -> dict[str, str]:
        """The text that a search for the word shows for each matching note."""
        self.searches += 1
        question = {"query": word, "top_k": 10, "payload": "l2"}
        answer = await self._call("POST", "/v2/searches", question, expect=200)
        return {item["note_id"]: item["text"] for item in answer["items"] if word in item["text"]}

    async def _call(self, method: str, path: str, body: Any, revision: int | None = None, *, expect: int) -> Any:
        """Retry until there is an answer. A write that committed before the server died must answer the same."""
        headers = {"Idempotency-Key": uuid4().hex} | ({} if revision is None else {"If-Match": f'"{revision}"'})
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                await self._up.wait()
                try:
                    response = await self._http.request(
                        method, f"{self._somewhere()}{path}", json=body, headers=headers
                    )
                except httpx2.HTTPError:
                    await asyncio.sleep(0.05)
                    continue
                if response.status_code in (409, 503) and response.json()["retryable"]:
                    await asyncio.sleep(0.05)
                    continue
                assert response.status_code == expect, (method, path, response.status_code, response.text[:300])
                self._acknowledged += 1
                return response.json() if response.content else None

    def _some_words(self) -> str:
        """A unique combination of words, so that the vector is unique."""
        while (words := frozenset(self._random.sample(WORDS, 6))) in self._used:
            pass
        self._used.add(words)
        return " ".join(words)

    def _somewhere(self) -> str:
        """URL of the server for the next call."""
        return self._address

    async def _check(self) -> None:
        """Check that nothing is lost or duplicated, and that the index matches the store."""
        async with httpx2.AsyncClient(base_url=self._address, timeout=60) as client:
            existing = await every_note(client)
            assert existing == self.texts
            for name in list(self.deleted)[:20]:
                assert (await client.get(f"/v2/notes/{name}")).status_code == 404
            await _indexed(client)
            told_apart = [name for name, text in self.texts.items() if text != BELL and len(text) <= ONE_CHUNK]
            looked_up = {*told_apart[-LAST_NOTES:], *self._random.sample(told_apart, min(len(told_apart), SAMPLES))}
            missed = [name for name in looked_up if not await self._is_found_by_its_vector(client, name)]
            await self._explain(missed)

    async def _explain(self, missed: list[str]) -> None:
        """Fail for notes that their vectors did not find: an exact index overlooks none."""
        assert not missed, [self.texts[name][:80] for name in missed]

    def _words_of(self, name: str) -> str:
        return self.texts[name].partition(": ")[2].partition(".")[0]

    async def _is_found_by_its_vector(self, client: httpx2.AsyncClient, name: str) -> bool:
        """Whether vectors alone find a note by its six words, among the first hundredth or the first ten.

        What it said before an edit had other words: a vector of that would hardly be there. Not the very first: a
        question's words are weighed by how rare they are, and another note may be nearer to the rarest. Of 400 notes
        among 3,000, an exact scan had 396 among the first four and all among the first nine. The number of a note is
        left out: being the rarest word of all, it would draw every note with a like number in front of it.
        """
        first = min(50, max(10, len(self.texts) // 100))
        question = {"query": self._words_of(name), "mode": "dense", "top_k": first, "payload": "l0"}
        items = (await client.post("/v2/searches", json=question)).json()["items"]
        return name in {item["note_id"] for item in items}


def _between(notes: int) -> tuple[int, int]:
    calls = notes * 7 // 4 // STRIKES  # each note is written, half of them are edited, a quarter deleted
    return max(3, calls // 2), max(12, calls * 3 // 2)


async def every_note(client: httpx2.AsyncClient) -> dict[str, str]:
    """The text of every note, by id; fails on duplicates."""
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
    async with asyncio.timeout(INDEXING_SECONDS):
        while (await client.get("/v2/admin/outbox")).json()["pending"]:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    assert (await client.get("/v2/admin/outbox")).json()["dead"] == 0
