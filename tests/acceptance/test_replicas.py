"""Several processes on one PostgreSQL: work, reports and models are shared."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from nur.entrypoints.cli.app import run
from nur.services.indexing.rebuild import REPORT, RebuildReport, RebuildState
from tests.rest_client import rest_of
from tests.servers.nur_server import WorkerProcess
from tests.servers.postgres_server import shared_cluster
from tests.store_backends import empty_database
from tests.store_notes import START, a_note, creation, write

if TYPE_CHECKING:
    from pathlib import Path

    from nur.ports.stores import Stores
    from tests.acceptance.conftest import OpenDoor


@pytest.fixture
def url() -> str:
    """An empty database."""
    return shared_cluster().emptied(empty_database())


def on(url: str, folder: Path) -> dict[str, Any]:
    return {"database_url": url, "database_allow_unsynced": True, "nur_data_dir": folder}


async def _until(stores: Stores, seconds: float = 120) -> None:
    """Wait, for a bounded time, until nothing is in the outbox."""
    for _ in range(int(seconds / 0.1)):
        if not (await stores.outbox.backlog(START)).pending:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the worker did not finish")


async def test_a_worker_embeds_and_indexes_what_servers_stored(url: str, tmp_path: Path) -> None:
    from nur.adapters.sql.postgres.stores import PostgresStores

    stores = PostgresStores(url, tmp_path / "test", allow_unsynced=True)
    await stores.open(START)
    try:
        await write(stores, creation(a_note("Tea at four."), "Tea at four.", embedded=False))
        assert (await stores.outbox.backlog(START)).pending
        worker = WorkerProcess(tmp_path / "worker", DATABASE_URL=url, DATABASE_ALLOW_UNSYNCED="1", EMBEDDINGS="local")
        with worker:
            await _until(stores)
        assert worker.process.returncode == 0, worker.log.read_text()
        (version,) = await stores.vectors.versions()
        assert version.startswith("local:")
        assert await stores.vectors.count_missing(version) == 0
    finally:
        await stores.close()


def test_a_worker_needs_a_store_and_an_index_that_can_be_shared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["worker"]) == 2
    assert "nur worker needs DATABASE_URL" in capsys.readouterr().err
    monkeypatch.setenv("DATABASE_URL", "postgresql://nur@localhost/nur")
    monkeypatch.setenv("INDEX", "qdrant")
    assert run(["worker"]) == 2
    assert "set QDRANT_URL" in capsys.readouterr().err


async def test_a_rebuild_is_reported_by_every_server(open_door: OpenDoor, url: str, tmp_path: Path) -> None:
    async with open_door(**on(url, tmp_path / "1")) as one, open_door(**on(url, tmp_path / "2")) as other:
        await one.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
        async with rest_of(one.services) as first, rest_of(other.services) as second:
            assert (await second.ok("GET", "/v2/admin/index/rebuild"))["state"] == "idle"
            await first.call("POST", "/v2/admin/index/rebuild")
            await one.services.rebuild._task  # type: ignore[misc]
            done = await second.ok("GET", "/v2/admin/index/rebuild")
            assert (done["state"], done["rebuilt"]) == ("done", 1)


async def test_a_rebuild_that_runs_elsewhere_is_not_started_again(
    open_door: OpenDoor, url: str, tmp_path: Path
) -> None:
    async with open_door(**on(url, tmp_path / "1")) as one, open_door(**on(url, tmp_path / "2")) as other:
        running = RebuildReport(RebuildState.RUNNING, chunks=7)
        await one.services.rebuild._stored.write(running, at_once=True)
        assert await other.services.rebuild.start() == running
        assert other.services.rebuild._task is None
        kept = await one.services.stores.facts.get(REPORT)
        assert kept is not None
        await one.services.stores.facts.set(REPORT, kept.replace("20", "19", 1))  # a century of silence
        left = await other.services.rebuild.status()
        assert left.state is RebuildState.FAILED
        assert "has stopped" in str(left.error)


async def test_a_switch_of_the_model_is_noticed_by_the_others(open_door: OpenDoor, url: str, tmp_path: Path) -> None:
    async with open_door(**on(url, tmp_path / "1")) as one, open_door(**on(url, tmp_path / "2")) as other:
        assert not await other.services.watch_model.has_changed()
        await one.services.stores.vectors.switch("openai:another:8", one.services.clock.now())
        assert await other.services.watch_model.has_changed()


async def test_what_was_written_before_a_process_switched_is_embedded_when_the_next_one_opens(
    open_door: OpenDoor, url: str, tmp_path: Path
) -> None:
    async with open_door(**on(url, tmp_path / "1")) as one:
        version = one.services.embedder.model.version
        await one.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
        await one.services.stores.vectors.drop(version)
        assert not (await one.services.stores.outbox.backlog(one.services.clock.now())).pending
    async with open_door(**on(url, tmp_path / "1")) as one:
        await _until(one.services.stores)
        assert await one.services.stores.vectors.count_missing(version) == 0


async def test_opening_takes_nothing_from_others(open_door: OpenDoor, url: str, tmp_path: Path) -> None:
    """Neither leases nor an index that another process has open."""
    async with open_door(**on(url, tmp_path / "1"), index="pgvector") as one:
        await one.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
        stores, now = one.services.stores, one.services.clock.now()
        await stores.index_marks.clear(now)
        (job,) = await stores.outbox.lease("busy", 10, now, 3600)
        async with open_door(**on(url, tmp_path / "2"), index="pgvector") as other:
            assert await other.services.stores.outbox.lease("late", 10, other.services.clock.now(), 60) == []
        await stores.outbox.finish(job, now, indexed=job.revision)
        assert not (await stores.outbox.backlog(now)).pending
