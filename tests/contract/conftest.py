"""The indexes and ledgers under test."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from typing import TYPE_CHECKING

import pytest

from nur.adapters.chroma.client import ChromaFolder, ChromaServer
from nur.adapters.in_memory.clock import ManualClock
from nur.adapters.sql.sqlite.ledger import SqliteLedger
from tests.index_backends import Backend, Chroma, Flat, FlatSigns, InMemory
from tests.ledger_notes import START
from tests.ledger_stores import InMemoryStore, SqliteStore, Store
from tests.servers.chroma_server import ChromaProcess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from nur.ports.ledger import Ledger
    from nur.ports.vector_index import VectorIndex

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaProcess]:
    with ChromaProcess(tmp_path_factory.mktemp("chroma")) as server:
        yield server


def _backend(request: pytest.FixtureRequest) -> Backend:
    if request.param == "chroma_folder":
        return Chroma(ChromaFolder(request.getfixturevalue("tmp_path") / "chroma"))
    if request.param == "chroma_server":
        server = request.getfixturevalue("chroma_server")
        return Chroma(ChromaServer(server.host, server.port), f"_{next(_numbers)}")
    kinds: dict[str, type[Backend]] = {"in_memory": InMemory, "flat": Flat, "flat_signs": FlatSigns}
    return kinds[request.param]()


CHROMA = ["chroma_folder", "chroma_server"]


@pytest.fixture(params=["in_memory", "flat", "flat_signs", *CHROMA])
def backend(request: pytest.FixtureRequest) -> Backend:
    return _backend(request)


@pytest.fixture(params=CHROMA)
def chroma(request: pytest.FixtureRequest) -> Chroma:
    backend = _backend(request)
    assert isinstance(backend, Chroma)
    return backend


@pytest.fixture
async def index(backend: Backend) -> AsyncIterator[VectorIndex]:
    made = backend.make()
    await made.open()
    yield made
    await made.close()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture(scope="module")
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new store, made once: making one takes longer than most tests."""

    async def make(folder: Path) -> Path:
        ledger = SqliteLedger(folder, ManualClock())
        await ledger.open()
        await ledger.close()
        return folder

    return asyncio.run(make(tmp_path_factory.mktemp("ledger")))


@pytest.fixture(params=["in_memory", "sqlite"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, empty_folder: Path, clock: ManualClock
) -> AsyncIterator[Store]:
    made: Store
    if request.param == "in_memory":
        made = InMemoryStore(clock)
    else:
        made = SqliteStore(shutil.copytree(empty_folder, tmp_path / "store"), clock)
    await made.ledger.open()
    yield made
    await made.ledger.close()


@pytest.fixture
def ledger(store: Store) -> Ledger:
    return store.ledger
