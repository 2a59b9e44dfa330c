"""Cost of each profile as the store grows: writing, searching, memory, disk, rebuilding, starting.

`NUR_SCALING_CHUNKS=1000,10000 make bench NAMES=scaling` chooses the sizes; without it 1,000 chunks are measured.
`NUR_SCALING_PROFILES=embedded,server` chooses profiles.
CPU is the sum of this process and the engine's processes.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from nur import bootstrap
from nur.domain.filters import NoteFilter
from nur.domain.search import SearchRequest
from nur.settings import load
from tests.benchmarks import store
from tests.benchmarks.figures import median_ms, ms
from tests.callers import LOCAL_CALLER
from tests.servers.chroma_server import ChromaProcess
from tests.servers.postgres_server import PostgresCluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nur.bootstrap import Services
    from tests.benchmarks.figures import Report

SIZES = [int(size) for size in os.environ.get("NUR_SCALING_CHUNKS", "1000").split(",")]
QUESTIONS = 40
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Profile:
    """Settings, and what runs beside Nur."""

    settings: dict[str, Any]
    folder: Path  #: where the engine keeps its data
    engine: Callable[[], list[psutil.Process]]


@contextmanager
def _embedded(folder: Path) -> Iterator[Profile]:
    yield Profile({}, folder / "data", list)


@contextmanager
def _compose(folder: Path) -> Iterator[Profile]:
    with ChromaProcess(folder / "chroma") as server:
        assert server._process is not None
        process = psutil.Process(server._process.pid)
        settings = {"chroma_host": "127.0.0.1", "chroma_port": server.port}
        yield Profile(settings, folder, lambda: [process, *process.children(recursive=True)])


@contextmanager
def _server(folder: Path) -> Iterator[Profile]:
    cluster = PostgresCluster(fsync="on", full_page_writes="on", autovacuum="on", shared_buffers="256MB")
    try:
        pid = int((cluster.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        postmaster = psutil.Process(pid)
        settings = {"database_url": cluster.url()}
        yield Profile(settings, cluster.folder / "data", lambda: [postmaster, *postmaster.children()])
    finally:
        cluster.remove()


@contextmanager
def _scale_out(folder: Path) -> Iterator[Profile]:
    """Qdrant's own process is not at hand: this is the imitation in its client, which compares every vector."""
    with _server(folder) as server:
        yield Profile({**server.settings, "index": "qdrant"}, server.folder, server.engine)


PROFILES = {"embedded": _embedded, "compose": _compose, "server": _server, "scale-out": _scale_out}
CHOSEN = os.environ.get("NUR_SCALING_PROFILES", ",".join(PROFILES)).split(",")


def test_scaling(report: Report) -> None:
    """Every profile at every size, one after the other."""
    for chunks in SIZES:
        for name in CHOSEN:
            with tempfile.TemporaryDirectory() as folder, PROFILES[name](Path(folder)) as opened:
                asyncio.run(_measure(report, f"{name}, {chunks:,} chunks", opened, Path(folder), chunks))


async def _measure(report: Report, name: str, profile: Profile, folder: Path, chunks: int) -> None:
    settings = load(nur_data_dir=folder / "data", embeddings="local", **profile.settings)
    async with bootstrap.running(settings) as services:
        wall, cpu = await _spent(profile, lambda: _filled(services, chunks))
        stored = (await services.stores.chunks.statistics()).chunks
        report.add(f"{name}: write, wall per chunk", ms(wall / stored))
        report.add(f"{name}: write, CPU per chunk", ms(cpu / stored))
        await _search(report, name, services, profile)
        report.add(f"{name}: memory of Nur", psutil.Process().memory_info().rss / MEGABYTE, "MB")
        beside = sum(_memory(process) for process in profile.engine())
        if beside:
            report.add(f"{name}: memory of the engine", beside / MEGABYTE, "MB")
        wall, cpu = await _spent(profile, services.rebuild)
        report.add(f"{name}: rebuild the index", wall, "s")
    report.add(f"{name}: disk per chunk", _size(profile.folder) / stored / 1000, "kB")
    started = time.perf_counter()
    async with bootstrap.running(settings):
        report.add(f"{name}: open the store", time.perf_counter() - started, "s")


async def _filled(services: Services, chunks: int) -> None:
    """Everything stored and in the index."""
    await store.fill(services, store.Sizes(chunks))
    while (await services.stores.outbox.backlog(services.clock.now())).pending:
        await services.clock.sleep(0.1)


async def _search(report: Report, name: str, services: Services, profile: Profile) -> None:
    where = NoteFilter(tenant=LOCAL_CALLER.tenant)
    walls, cpus = [], []
    for question in store.questions(QUESTIONS + 5):
        request = SearchRequest(query=question, caller=LOCAL_CALLER, where=where)
        wall, cpu = await _spent(profile, lambda asked=request: services.search(asked))  # type: ignore[misc]
        walls.append(wall)
        cpus.append(cpu)
    report.add(f"{name}: search, wall", median_ms(walls[5:]))
    # The mean: the clock of another process ticks in steps of 10 ms.
    report.add(f"{name}: search, CPU", ms(sum(cpus[5:]) / QUESTIONS))


async def _spent(profile: Profile, work: Callable[[], Any]) -> tuple[float, float]:
    """Wall and CPU seconds, those of the engine included."""
    before, started = _cpu(profile), time.perf_counter()
    await work()
    return time.perf_counter() - started, _cpu(profile) - before


def _cpu(profile: Profile) -> float:
    beside = 0.0
    for process in profile.engine():
        try:
            used = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        beside += used.user + used.system + used.children_user + used.children_system  # those that have ended
    return time.process_time() + beside


def _memory(process: psutil.Process) -> int:
    """Its own memory: PostgreSQL's processes share theirs."""
    try:
        return int(process.memory_full_info().uss)
    except psutil.Error:
        return 0


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
