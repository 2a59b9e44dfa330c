"""Cost of each profile as the store grows: writing, searching, memory, disk, rebuilding, starting.

`NUR_SCALING_CHUNKS=1000,10000 make bench NAMES=scaling` chooses the sizes; without it 1,000 chunks are measured.
`NUR_SCALING_PROFILES=embedded,server` chooses profiles. With `NUR_SCALING_STORE=folder`, an embedded store that this
benchmark has filled, `nur migrate` copies it to each profile instead, and the figures of writes are of a few more.

CPU is the sum of this process and the engine's processes. Memory of Nur is that of a new process, which opens the store
and answers the same questions: this one also holds the texts that it stored.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import psutil

from nur import bootstrap
from nur.adapters.qdrant.client import QdrantServer
from nur.adapters.qdrant.vector_index import QdrantVectorIndex
from nur.bootstrap.moving import move_store
from nur.domain.filters import NoteFilter
from nur.domain.search import SearchRequest
from nur.settings import load
from tests.benchmarks import store
from tests.benchmarks.figures import median_ms, ms
from tests.callers import LOCAL_CALLER
from tests.doubles.qdrant_edge import EdgeClient
from tests.servers.chroma_server import ChromaProcess
from tests.servers.postgres_server import PostgresCluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nur.bootstrap import Services
    from nur.domain.embedding import EmbeddingModel
    from nur.ports.clock import Clock
    from nur.ports.stores import Stores
    from nur.ports.vector_index import VectorIndex
    from nur.settings import Settings
    from tests.benchmarks.figures import Report

SIZES = [int(size) for size in os.environ.get("NUR_SCALING_CHUNKS", "1000").split(",")]
#: A store to start with, instead of writing one.
STORE = os.environ.get("NUR_SCALING_STORE")
#: Chunks written to such a store, with other texts than those it has.
MORE_CHUNKS, MORE_SEED = 300, 100
QUESTIONS = 40
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Profile:
    """Settings, and what runs beside Nur."""

    settings: dict[str, Any]
    folder: Path  #: where the engine keeps its data
    engine: Callable[[], list[psutil.Process]]
    is_apart: bool = True  #: whether another process can open the store: the engine does not run in this one

    @property
    def log(self) -> Path:
        """Where PostgreSQL keeps its log, up to `max_wal_size` whatever the store holds."""
        return self.folder / "pg_wal"


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
    """Qdrant's server is not at hand: its engine runs in this process, without a network and without HNSW."""
    client = EdgeClient(folder / "qdrant")
    index = partial(_with_engine, client)
    with _server(folder) as server, patch.object(bootstrap, "make_index", index):
        yield Profile({**server.settings, "index": "qdrant"}, server.folder, server.engine, is_apart=False)
    client.stop()


def _with_engine(
    client: EdgeClient, _: Settings, __: Stores, model: EmbeddingModel, store_id: str, ___: str, clock: Clock
) -> VectorIndex:
    return QdrantVectorIndex(
        QdrantServer("http://engine.test"),
        store_id=store_id,
        embedding_version=model.version,
        clock=clock,
        connect=lambda *_: client,  # type: ignore[arg-type]  # it has the methods that are called
    )


PROFILES = {"embedded": _embedded, "compose": _compose, "server": _server, "scale-out": _scale_out}
CHOSEN = os.environ.get("NUR_SCALING_PROFILES", ",".join(PROFILES)).split(",")


def test_scaling(report: Report) -> None:
    """Every profile at every size, one after the other."""
    for chunks in SIZES:
        for name in CHOSEN:
            with tempfile.TemporaryDirectory() as folder, PROFILES[name](Path(folder)) as opened:
                asyncio.run(_measure(report, f"{name}, {chunks:,} chunks", opened, Path(folder), chunks))


async def _measure(report: Report, name: str, profile: Profile, folder: Path, chunks: int) -> None:
    given = {"nur_data_dir": folder / "data", "embeddings": "local", **profile.settings}
    empty = _size(profile.folder) - _size(profile.log)
    if STORE is not None:
        await _move(report, name, profile, STORE, given)
    async with bootstrap.running(load(**given)) as services:
        before = (await services.stores.chunks.statistics()).chunks
        wall, cpu = await _spent(profile, lambda: _filled(services, chunks))
        stored = (await services.stores.chunks.statistics()).chunks
        report.add(f"{name}: write, wall per chunk", ms(wall / (stored - before)))
        report.add(f"{name}: write, CPU per chunk", ms(cpu / (stored - before)))
        await _search(report, f"{name}: search", services, profile)
        await _search(report, f"{name}: the same questions again", services, profile)
        beside = sum(_memory(process) for process in profile.engine())
        if beside:
            report.add(f"{name}: memory of the engine", beside / MEGABYTE, "MB")
    log = _size(profile.log)
    report.add(f"{name}: disk per chunk", (_size(profile.folder) - log - empty) / stored / 1000, "kB")
    if log:
        report.add(f"{name}: log files", log / MEGABYTE, "MB")
    if profile.is_apart:
        with ProcessPoolExecutor(1, get_context("spawn")) as processes:
            opened, memory = processes.submit(_opened, given).result()
        report.add(f"{name}: open the store", opened, "s")
        report.add(f"{name}: memory of Nur", memory / MEGABYTE, "MB")
    async with bootstrap.running(load(**given)) as services:
        wall, cpu = await _spent(profile, services.rebuild)
        report.add(f"{name}: rebuild, wall", wall, "s")
        report.add(f"{name}: rebuild, CPU", cpu, "s")


def _opened(given: dict[str, Any]) -> tuple[float, int]:
    """Seconds to open the store, and the memory of this process after some searches."""
    return asyncio.run(_open(given))


async def _open(given: dict[str, Any]) -> tuple[float, int]:
    logging.disable(logging.INFO)
    started = time.perf_counter()
    async with bootstrap.running(load(**given)) as services:
        seconds = time.perf_counter() - started
        for request in _requests():
            await services.search(request)
        return seconds, int(psutil.Process().memory_info().rss)


async def _move(report: Report, name: str, profile: Profile, source: str, given: dict[str, Any]) -> None:
    """Copy a store to the profile's database, and start once, which builds the index."""
    if "database_url" not in given:
        shutil.copytree(source, given["nur_data_dir"])
        return
    settings, target = load(nur_data_dir=source, embeddings="local"), given["database_url"]
    wall, cpu = await _spent(profile, lambda: asyncio.to_thread(move_store, settings, target, lambda *_: None))
    report.add(f"{name}: move, wall", wall, "s")
    report.add(f"{name}: move, CPU", cpu, "s")
    started = time.perf_counter()
    async with bootstrap.running(load(**given)) as services:
        await _indexed(services)
    report.add(f"{name}: first start after the move", time.perf_counter() - started, "s")


async def _filled(services: Services, chunks: int) -> None:
    """Everything stored and in the index."""
    if STORE is None:
        await store.fill(services, store.Sizes(chunks))
    else:
        await store.fill(services, store.Sizes(MORE_CHUNKS), MORE_SEED)
    await _indexed(services)


async def _indexed(services: Services) -> None:
    while (await services.stores.outbox.backlog(services.clock.now())).pending:
        await services.clock.sleep(0.1)


async def _search(report: Report, name: str, services: Services, profile: Profile) -> None:
    walls, cpus = [], []
    for request in _requests():
        wall, cpu = await _spent(profile, lambda asked=request: services.search(asked))  # type: ignore[misc]
        walls.append(wall)
        cpus.append(cpu)
    report.add(f"{name}, wall", median_ms(walls[5:]))
    # The mean: the clock of another process ticks in steps of 10 ms.
    report.add(f"{name}, CPU", ms(sum(cpus[5:]) / QUESTIONS))


def _requests() -> list[SearchRequest]:
    where = NoteFilter(tenant=LOCAL_CALLER.tenant)
    questions = store.questions(QUESTIONS + 5)
    return [SearchRequest(query=question, caller=LOCAL_CALLER, where=where) for question in questions]


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
