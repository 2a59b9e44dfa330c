"""The scale-out profile: PostgreSQL with Qdrant, here the imitation in its client. Only settings differ."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from qdrant_client import QdrantClient, models

from nur.bootstrap.indexes import chosen_index
from nur.domain.chunks import sha256
from nur.entrypoints.cli.app import run
from nur.settings import load
from tests.servers.postgres_server import shared_cluster
from tests.store_backends import empty_database

if TYPE_CHECKING:
    from pathlib import Path

    from tests.acceptance.conftest import Door, OpenDoor

LONG = " ".join(f"Chapter {i} tells of the lighthouse keeper number {i} and his lamp." for i in range(300))
#: More than a search asks for: an index that returns fewer is not relied on.
MANY = 25


@pytest.fixture(params=["sqlite", "postgres"])
def qdrant(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings for an empty store with Qdrant inside the process."""
    if request.param == "sqlite":
        return {"index": "qdrant"}
    return {
        "index": "qdrant",
        "database_url": shared_cluster().emptied(empty_database()),
        "database_allow_unsynced": True,
    }


async def _indexed(nur: Door) -> None:
    """Wait, for a bounded time, until the worker has nothing left to do."""
    for _ in range(400):
        if not (await nur.services.stores.outbox.backlog(nur.services.clock.now())).pending:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the worker did not finish")


async def _ids(nur: Door, query: str) -> list[str]:
    found = await nur.data("memory_search", query=query, limit=3)
    return [hit["id"] for hit in found["hits"]]


async def test_everything_works_through_the_same_tools(open_door: OpenDoor, qdrant: dict[str, Any]) -> None:
    async with open_door(**qdrant) as nur:
        assert nur.services.index.name == "qdrant"
        for number in range(MANY):
            await nur.data("memory_store", content=f"Railway timetable {number}", type="fact", confidence=1.0)
        stored = await nur.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
        assert stored["index_state"] == "pending"
        assert await _ids(nur, "rye") == [stored["memory_id"]]  # before it is indexed
        assert (await _ids(nur, "toast, loaf, flour or baguette?"))[0] == stored["memory_id"]  # no word of it
        await _indexed(nur)
        assert await nur.services.index.count() == MANY + 1
        assert await _ids(nur, "rye") == [stored["memory_id"]]
        assert (await _ids(nur, "toast, loaf, flour or baguette?"))[0] == stored["memory_id"]
        book = {"artifact_type": "doc", "source_system": "drive", "source_id": "1"}
        await nur.data("artifact_ingest", content=LONG, **book)
        await _indexed(nur)
        assert "lighthouse keeper number 123" in await nur.text("artifact_search", query="keeper number 123")
    async with open_door(**qdrant) as nur:  # nothing is indexed again
        assert not (await nur.services.stores.outbox.backlog(nur.services.clock.now())).pending
        await nur.text("memory_delete", memory_id=stored["memory_id"])
        assert await _ids(nur, "rye") == []


async def test_a_lost_index_is_rebuilt_from_the_store(
    open_door: OpenDoor, qdrant: dict[str, Any], tmp_path: Path
) -> None:
    async with open_door(**qdrant) as nur:
        await nur.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
        await _indexed(nur)
    shutil.rmtree(tmp_path / "data" / "qdrant")
    async with open_door(**qdrant) as nur:
        assert "rye" in await nur.text("memory_search", query="bread")
        await _indexed(nur)
        assert await nur.services.index.count() == 1


async def test_a_foreign_collection_stops_the_start_and_can_be_wiped(
    open_door: OpenDoor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_door(index="qdrant") as nur:
        name = f"nur_{sha256(nur.services.embedder.model.version)[:8]}"
    shutil.rmtree(tmp_path / "data" / "qdrant")
    theirs = QdrantClient(path=str(tmp_path / "data" / "qdrant"))
    theirs.create_collection(name, vectors_config=models.VectorParams(size=4, distance=models.Distance.DOT))
    theirs.close()
    monkeypatch.setenv("INDEX", "qdrant")
    assert await asyncio.to_thread(run, ["remember", "Rye bread."]) == 4
    assert f"nur rebuild --wipe-foreign {name}" in capsys.readouterr().err
    assert await asyncio.to_thread(run, ["rebuild", "--wipe-foreign", "nobodys", "--yes"]) == 2
    assert await asyncio.to_thread(run, ["rebuild", "--wipe-foreign", name, "--yes"]) == 0
    async with open_door(index="qdrant") as nur:
        assert await nur.services.index.count() == 0


def test_auto_takes_qdrant_where_its_address_is_set() -> None:
    address = "http://localhost:6333"
    assert chosen_index(load(qdrant_url=address)) == "qdrant"
    assert chosen_index(load(qdrant_url=address, database_url="postgresql://nur@localhost/nur")) == "qdrant"
    assert chosen_index(load(qdrant_url=address, chroma_host="localhost")) == "chroma"
    assert chosen_index(load(qdrant_url=address, index="flat")) == "flat"
