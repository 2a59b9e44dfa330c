"""The first specification's profile: a Chroma server beside the store. Losing it loses nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
import pytest

from nur.adapters.chroma.client import ChromaServer, connect, disconnect
from nur.domain.access import DEFAULT_TENANT
from nur.domain.chunks import sha256
from nur.domain.filters import NoteFilter
from nur.entrypoints.cli.app import run
from nur.retrieval.calibration import MIN_CANDIDATES
from tests.callers import LOCAL_CALLER
from tests.servers.chroma_server import ChromaProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nur.ports.embedder import Floats
    from tests.acceptance.conftest import Door, OpenDoor
    from tests.servers.openai_stub import OpenAIStub

LONG = " ".join(f"Chapter {i} tells of the lighthouse keeper number {i} and his lamp." for i in range(300))


@pytest.fixture
def chroma(tmp_path: Path) -> Iterator[ChromaProcess]:
    with ChromaProcess(tmp_path / "chroma") as server:
        yield server


async def _indexed(nur: Door) -> None:
    """Wait, for a bounded time, until the worker has nothing left to do."""
    for _ in range(200):
        backlog = await nur.services.stores.outbox.backlog(nur.services.clock.now())
        if backlog.pending == 0:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the worker did not finish")


async def test_a_write_is_found_at_once_and_reaches_chroma_soon(open_door: OpenDoor, chroma: ChromaProcess) -> None:
    async with open_door(chroma_host="127.0.0.1", chroma_port=chroma.port) as nur:
        assert await _found_before_it_was_indexed(nur)
        await nur.data("artifact_ingest", artifact_type="doc", source_system="drive", source_id="1", content=LONG)
        await _indexed(nur)
        assert await nur.services.index.count() == await nur.services.stores.index_marks.count(
            nur.services.embedder.model.version
        )
        assert "lighthouse keeper number 123" in await nur.text("artifact_search", query="keeper number 123")


async def _found_before_it_was_indexed(nur: Door) -> bool:
    """Store and ask by meaning alone, until the worker was slower than the question; False if it never was.

    Chroma has enough to answer with: one that returns fewer than asked is not relied on anyway.
    """
    for number in range(MIN_CANDIDATES + 1):
        await nur.data("memory_store", content=f"Railway timetable {number}", type="fact", confidence=1.0)
    await _indexed(nur)
    for number in range(50):
        stored = await nur.data(
            "memory_store", content=f"The keeper likes rye bread {number}", type="fact", confidence=1.0
        )
        assert stored["index_state"] == "pending"
        found = await nur.data("memory_search", query="toast, loaf, flour or baguette?", limit=1)  # no word of it
        waits = (await nur.services.stores.outbox.backlog(nur.services.clock.now())).pending
        assert [hit["id"] for hit in found["hits"]] == [stored["memory_id"]]
        if waits:
            return True
        await nur.text("memory_delete", memory_id=stored["memory_id"])
        await _indexed(nur)
    return False


async def test_deduplicate_prefers_chunks(open_door: OpenDoor, chroma: ChromaProcess) -> None:
    """Chroma holds a record of the whole artifact, too; asked with its very vector it answers with chunks alone."""
    async with open_door(chroma_host="127.0.0.1", chroma_port=chroma.port) as nur:
        made = await nur.data("artifact_ingest", artifact_type="doc", source_system="d", source_id="1", content=LONG)
        await _indexed(nur)
        assert _counts(chroma) == {"artifacts": 1, "artifact_chunks": made["num_chunks"]}
        whole = _vector(chroma, "artifacts", made["artifact_id"])
        found = await nur.services.index.query(whole, NoteFilter(tenant=DEFAULT_TENANT), 100)
        assert len(found) == made["num_chunks"]
        assert len({neighbour.chunk_key for neighbour in found}) == made["num_chunks"]


async def test_hybrid_search_deduplication(open_door: OpenDoor, chroma: ChromaProcess) -> None:
    """Several chunks of an artifact answer, and Chroma has the whole of it besides: one hit, by the best chunk."""
    async with open_door(chroma_host="127.0.0.1", chroma_port=chroma.port) as nur:
        made = await nur.data("artifact_ingest", artifact_type="doc", source_system="d", source_id="1", content=LONG)
        await _indexed(nur)
        found = await nur.data("hybrid_search", query="lighthouse keeper and his lamp", include_memory=True, limit=50)
        (hit,) = found["hits"]
        assert (hit["id"], hit["type"]) == (made["artifact_id"], "artifact_chunk")
        trace = (await nur.services.explain(UUID(found["search_id"]), LOCAL_CALLER)).trace
        scores = {one.chunk_index: one.score or 0.0 for one in trace.candidates}
        assert len(scores) > 1
        assert hit["chunk_id"].split("::")[2] == f"{max(scores, key=scores.__getitem__):03d}"


async def test_a_deleted_artifact_leaves_nothing_in_chroma(open_door: OpenDoor, chroma: ChromaProcess) -> None:
    async with open_door(chroma_host="127.0.0.1", chroma_port=chroma.port) as nur:
        made = await nur.data("artifact_ingest", artifact_type="doc", source_system="d", source_id="1", content=LONG)
        await _indexed(nur)
        assert await nur.services.index.count() == made["num_chunks"]
        await nur.text("artifact_delete", artifact_id=made["artifact_id"])
        await _indexed(nur)
        assert await nur.services.index.count() == 0


async def test_a_lost_chroma_is_rebuilt_from_the_store(
    open_door: OpenDoor, chroma: ChromaProcess, tmp_path: Path
) -> None:
    async with open_door(chroma_host="127.0.0.1", chroma_port=chroma.port) as nur:
        await nur.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
        await _indexed(nur)
    with ChromaProcess(tmp_path / "empty") as other:
        async with open_door(chroma_host="127.0.0.1", chroma_port=other.port) as nur:
            assert "rye" in await nur.text("memory_search", query="bread")
            await _indexed(nur)
            assert await nur.services.index.count() == 1


async def test_search_degrades_while_chroma_is_gone_and_recovers(open_door: OpenDoor, chroma: ChromaProcess) -> None:
    async with open_door(chroma_host="127.0.0.1", chroma_port=chroma.port) as nur:
        await nur.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
        await _indexed(nur)
        chroma.kill()
        answer = await nur.data("memory_search", query="rye bread")
        assert answer["degraded"] == ["dense"]
        assert len(answer["hits"]) == 1  # found by its words
        assert (await nur.services.health()).status == "degraded"
        chroma.start()
        async with asyncio.timeout(60):
            while (await nur.data("memory_search", query="rye bread"))["degraded"]:  # noqa: ASYNC110
                await asyncio.sleep(0.1)


async def test_a_chroma_that_is_down_at_the_start_does_not_stop_it(open_door: OpenDoor, chroma: ChromaProcess) -> None:
    chroma.kill()
    async with open_door(chroma_host="127.0.0.1", chroma_port=chroma.port) as nur:
        await nur.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
        assert "rye" in await nur.text("memory_search", query="rye bread")


async def test_another_models_vectors_get_collections_of_their_own(
    open_door: OpenDoor, chroma: ChromaProcess, openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("CHROMA_HOST", "127.0.0.1"), ("CHROMA_PORT", str(chroma.port))):
        monkeypatch.setenv(name, value)
    async with open_door() as nur:
        await nur.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
        await _indexed(nur)
        local = nur.services.embedder.model.version
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", openai_stub.url)
    target = "openai:text-embedding-3-small:64"
    suffix = f"_{sha256(target)[:8]}"

    assert await asyncio.to_thread(run, ["reembed", "--to", target]) == 0
    async with open_door() as nur:
        await _indexed(nur)
        assert await nur.services.index.count() == 1
        found = await nur.data("memory_search", query="which bread?")
        assert (found["degraded"], len(found["hits"])) == ([], 1)
    dimensions = _dimensions(chroma)
    assert (dimensions["memory"], dimensions[f"memory{suffix}"]) == (256, 64)  # the former one's stay beside them

    assert await asyncio.to_thread(run, ["reembed", "--to", local]) == 0
    async with open_door() as nur:
        await nur.data("memory_store", content="The keeper sleeps at noon", type="fact", confidence=1.0)
        await _indexed(nur)
        assert await nur.services.index.count() == 2
    assert _counts(chroma) == {"memory": 2, f"memory{suffix}": 1}


async def test_a_foreign_collection_stops_the_start_until_it_is_wiped_by_name(
    open_door: OpenDoor, chroma: ChromaProcess, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("CHROMA_HOST", "127.0.0.1"), ("CHROMA_PORT", str(chroma.port))):
        monkeypatch.setenv(name, value)
    client = connect(ChromaServer("127.0.0.1", chroma.port), 10)
    for foreign in ("memory", "theirs"):
        client.create_collection(foreign, embedding_function=None).upsert(["1"], embeddings=np.ones((1, 2), np.float32))

    assert await asyncio.to_thread(run, ["remember", "Rye bread."]) == 4
    assert "nur rebuild --wipe-foreign memory" in capsys.readouterr().err
    assert await asyncio.to_thread(run, ["rebuild", "--wipe-foreign", "nobodys", "--yes"]) == 2
    assert "no collection 'nobodys'" in capsys.readouterr().err
    assert client.get_collection("memory", embedding_function=None).count() == 1

    assert await asyncio.to_thread(run, ["rebuild", "--wipe-foreign", "memory", "--yes"]) == 0
    told = capsys.readouterr()
    assert told.err == "collection memory deleted\n"
    assert told.out == "0 of 0 chunks rebuilt, 0 without vectors, 0 errors\n"
    async with open_door() as nur:
        await nur.data("memory_store", content="Rye bread", type="fact", confidence=1.0)
        await _indexed(nur)
        assert await nur.services.index.count() == 1
    assert client.get_collection("theirs", embedding_function=None).count() == 1
    disconnect(client)


def _vector(chroma: ChromaProcess, collection: str, name: str) -> Floats:
    """The vector of one record."""
    client = connect(ChromaServer("127.0.0.1", chroma.port), 10)
    found = client.get_collection(collection, embedding_function=None).get([name], include=["embeddings"])
    disconnect(client)
    assert found["embeddings"] is not None
    return np.asarray(found["embeddings"][0], np.float32)


def _dimensions(chroma: ChromaProcess) -> dict[str, int]:
    """By collection, how many numbers its vectors have."""
    client = connect(ChromaServer("127.0.0.1", chroma.port), 10)
    found = {each.name: each.peek(1)["embeddings"] for each in client.list_collections()}
    disconnect(client)
    return {name: len(vectors[0]) for name, vectors in found.items() if vectors is not None and len(vectors)}


def _counts(chroma: ChromaProcess) -> dict[str, int]:
    """By collection that holds notes, how many records."""
    client = connect(ChromaServer("127.0.0.1", chroma.port), 10)
    found = {each.name: each.count() for each in client.list_collections()}
    disconnect(client)
    return {name: records for name, records in found.items() if records and not name.startswith("nur_state")}
