"""The first specification's profile: a Chroma server beside the ledger. Losing it loses nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.servers.chroma_server import ChromaProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.acceptance.conftest import Door, OpenDoor

LONG = " ".join(f"Chapter {i} tells of the lighthouse keeper number {i} and his lamp." for i in range(300))


@pytest.fixture
def chroma(tmp_path: Path) -> Iterator[ChromaProcess]:
    with ChromaProcess(tmp_path / "chroma") as server:
        yield server


async def _indexed(nur: Door) -> None:
    """Wait, for a bounded time, until the worker has nothing left to do."""
    for _ in range(200):
        backlog = await nur.services.ledger.backlog(nur.services.ledger._clock.now())  # type: ignore[attr-defined]
        if backlog.pending == 0:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the worker did not finish")


async def test_a_write_is_found_at_once_and_reaches_chroma_soon(open_door: OpenDoor, chroma: ChromaProcess) -> None:
    async with open_door(chroma_host="127.0.0.1", chroma_port=chroma.port) as nur:
        stored = await nur.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
        assert stored["index_state"] == "pending"
        assert "rye" in await nur.text("memory_search", query="what bread does the keeper like?")
        await nur.data("artifact_ingest", artifact_type="doc", source_system="drive", source_id="1", content=LONG)
        await _indexed(nur)
        assert await nur.services.index.count() == await nur.services.ledger.count_indexed(
            nur.services.embedder.model.version
        )
        assert "lighthouse keeper number 123" in await nur.text("artifact_search", query="keeper number 123")


async def test_a_deleted_artifact_leaves_nothing_in_chroma(open_door: OpenDoor, chroma: ChromaProcess) -> None:
    async with open_door(chroma_host="127.0.0.1", chroma_port=chroma.port) as nur:
        made = await nur.data("artifact_ingest", artifact_type="doc", source_system="d", source_id="1", content=LONG)
        await _indexed(nur)
        assert await nur.services.index.count() == made["num_chunks"]
        await nur.text("artifact_delete", artifact_id=made["artifact_id"])
        await _indexed(nur)
        assert await nur.services.index.count() == 0


async def test_a_lost_chroma_is_rebuilt_from_the_ledger(
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
        assert (await nur.data("memory_search", query="rye bread"))["degraded"] == []


async def test_a_chroma_that_is_down_at_the_start_does_not_stop_it(open_door: OpenDoor, chroma: ChromaProcess) -> None:
    chroma.kill()
    async with open_door(chroma_host="127.0.0.1", chroma_port=chroma.port) as nur:
        await nur.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
        assert "rye" in await nur.text("memory_search", query="rye bread")
