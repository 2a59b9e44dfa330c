"""A Chroma that loses its records, or hangs, while Nur runs: no search answers with less than what is stored."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from nur.adapters.chroma.client import ChromaServer, connect, disconnect
from tests.rest_client import open_rest
from tests.servers.chroma_server import ChromaProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from chromadb.api import ClientAPI

    from tests.rest_client import Rest

NOTES = 40
#: Generous: the machine may be busy. What is waited for takes seconds.
SOON_SECONDS = 60.0


@pytest.fixture
def chroma(tmp_path: Path) -> Iterator[ChromaProcess]:
    with ChromaProcess(tmp_path / "chroma") as server:
        yield server


async def _soon(holds: Callable[[], Any]) -> None:
    """Wait, for a bounded time, until an awaitable condition holds."""
    async with asyncio.timeout(SOON_SECONDS):
        while not await holds():  # noqa: ASYNC110  # asked of a server
            await asyncio.sleep(0.1)


async def _store(rest: Rest) -> dict[str, str]:
    """Notes that the index holds, by their ids; each has a word of its own."""
    written = {}
    for number in range(NOTES):
        text = f"Harbour {number}: the pilot boat number {number} leaves quay {number} at dawn."
        written[(await rest.ok("POST", "/v2/notes", {"text": text}))["note_id"]] = text

    async def idle() -> bool:
        return bool((await rest.ok("GET", "/v2/admin/outbox"))["pending"] == 0)

    await _soon(idle)
    assert await rest.services.index.count() == NOTES
    return written


async def _found_by_meaning(rest: Rest, written: dict[str, str]) -> tuple[int, set[str]]:
    """How many notes a search by meaning alone has among its hits, and what the answers say is degraded."""
    found, degraded = 0, set()
    for note_id, text in written.items():
        answer = await rest.ok("POST", "/v2/searches", {"query": text, "mode": "dense", "top_k": 5})
        found += note_id in [item["note_id"] for item in answer["items"]]
        degraded.update(answer["degraded"])
    return found, degraded


async def _index_check(rest: Rest) -> dict[str, Any]:
    return dict((await rest.services.health()).checks["index"])


def _delete_collections(client: ClientAPI) -> None:
    for collection in client.list_collections():
        client.delete_collection(collection.name)


def _delete_records(client: ClientAPI) -> None:
    for collection in client.list_collections():
        if ids := collection.get(include=[])["ids"]:
            collection.delete(ids)


def _delete_half(client: ClientAPI) -> None:
    for collection in client.list_collections():
        if ids := collection.get(include=[])["ids"]:
            collection.delete(ids[::2])


def _replace(client: ClientAPI) -> None:
    """Collections of the same names and marks, but others and empty: a Chroma set up again from a script."""
    for collection in client.list_collections():
        client.delete_collection(collection.name)
        client.create_collection(collection.name, metadata=collection.metadata, embedding_function=None)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("lose", [_delete_collections, _delete_records, _delete_half, _replace])
async def test_an_index_that_lost_records_is_noticed_and_rebuilt_while_everything_is_found(
    chroma: ChromaProcess, lose: Callable[[ClientAPI], None]
) -> None:
    async with open_rest(chroma_host=chroma.host, chroma_port=chroma.port) as rest:
        written = await _store(rest)
        assert await _found_by_meaning(rest, written) == (NOTES, set())
        assert (await _index_check(rest))["status"] == "healthy"

        async def told() -> bool:
            return "rebuilt" in str((await _index_check(rest)).get("error"))

        client = connect(ChromaServer(chroma.host, chroma.port), 10)
        lose(client)
        disconnect(client)
        (found, _), _ = await asyncio.gather(_found_by_meaning(rest, written), _soon(told))
        # What is left of a half fills the first answers: only counting tells that there was more.
        assert found == NOTES or lose is _delete_half
        assert (await _found_by_meaning(rest, written))[0] == NOTES

        async def rebuilt() -> bool:
            return bool((await _index_check(rest))["status"] == "healthy")

        await _soon(rebuilt)
        assert await rest.services.index.count() == NOTES
        assert await _found_by_meaning(rest, written) == (NOTES, set())


@pytest.mark.timeout(240)
async def test_a_hung_chroma_is_waited_for_once(chroma: ChromaProcess) -> None:
    async with open_rest(chroma_host=chroma.host, chroma_port=chroma.port) as rest:
        written = await _store(rest)
        chroma.freeze()
        try:
            started = time.monotonic()
            assert await _found_by_meaning(rest, written) == (NOTES, {"dense"})
            assert time.monotonic() - started < NOTES  # without the breaker: 2 s for each of them
            told = await _index_check(rest)
            assert told["status"] == "unhealthy"
            assert "ChromaDB" in told["error"]
        finally:
            chroma.thaw()

        async def back() -> bool:
            return bool((await _index_check(rest))["status"] == "healthy")

        await _soon(back)
        assert await _found_by_meaning(rest, written) == (NOTES, set())
