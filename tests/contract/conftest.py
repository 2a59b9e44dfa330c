"""The indexes and stores under test."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from nur.adapters.chroma.client import ChromaFolder, ChromaServer
from nur.adapters.qdrant.client import QdrantFolder, QdrantServer
from tests.doubles.qdrant_edge import EdgeClient
from tests.index_backends import Backend, Chroma, Flat, FlatSigns, InMemory, PgVector, Qdrant
from tests.servers.chroma_server import ChromaProcess
from tests.store_backends import BACKENDS, StoreBackend
from tests.store_notes import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from nur.ports.stores import Stores
    from nur.ports.vector_index import VectorIndex

_numbers = itertools.count(1)
#: A folder in memory, if available: the engine creates its indexes there in 0.3 s instead of 5.
MEMORY = Path("/dev/shm")


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
    if request.param == "qdrant_folder":
        return Qdrant(QdrantFolder(request.getfixturevalue("tmp_path") / "qdrant"))
    if request.param == "qdrant_engine":
        folder = Path(tempfile.mkdtemp(prefix="nur-qdrant-", dir=MEMORY if MEMORY.is_dir() else None))
        request.addfinalizer(lambda: shutil.rmtree(folder))
        client = EdgeClient(folder)
        request.addfinalizer(client.stop)
        return Qdrant(QdrantServer("http://engine.test"), connect=lambda *_: client)
    if request.param == "qdrant_server":
        return Qdrant(QdrantServer(QDRANT_URL, os.environ.get("QDRANT_API_KEY")), f"test_{uuid4().hex}")
    if request.param == "pgvector":
        backend = PgVector()
        request.addfinalizer(backend.close)
        return backend
    kinds: dict[str, type[Backend]] = {"in_memory": InMemory, "flat": Flat, "flat_signs": FlatSigns}
    return kinds[request.param]()


CHROMA = ["chroma_folder", "chroma_server"]
#: The client's in-process engine, Qdrant's real engine without a server, and a server if its URL is set.
QDRANT_URL = os.environ.get("QDRANT_URL", "")
QDRANT = ["qdrant_folder", "qdrant_engine", *(["qdrant_server"] if QDRANT_URL else [])]


@pytest.fixture(params=["in_memory", "flat", "flat_signs", *CHROMA, "pgvector", *QDRANT])
def backend(request: pytest.FixtureRequest) -> Backend:
    return _backend(request)


@pytest.fixture(params=CHROMA)
def chroma(request: pytest.FixtureRequest) -> Chroma:
    backend = _backend(request)
    assert isinstance(backend, Chroma)
    return backend


@pytest.fixture(params=QDRANT)
def qdrant(request: pytest.FixtureRequest) -> Qdrant:
    backend = _backend(request)
    assert isinstance(backend, Qdrant)
    return backend


@pytest.fixture
async def index(backend: Backend) -> AsyncIterator[VectorIndex]:
    made = backend.make()
    await made.open()
    yield made
    await made.close()


@pytest.fixture(params=BACKENDS)
def store_backend(request: pytest.FixtureRequest, tmp_path: Path) -> StoreBackend:
    """A new, empty database, not opened yet."""
    return BACKENDS[request.param](tmp_path / "store")


@pytest.fixture
async def stores(store_backend: StoreBackend) -> AsyncIterator[Stores]:
    """The database's stores, opened."""
    await store_backend.stores.open(START)
    yield store_backend.stores
    await store_backend.stores.close()
