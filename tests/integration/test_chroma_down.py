"""A Chroma server that dies, hangs and comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.adapters.chroma.client import ChromaServer
from nur.adapters.chroma.vector_index import ChromaVectorIndex
from nur.domain.access import DEFAULT_TENANT
from nur.domain.errors import IndexDown
from nur.domain.filters import NoteFilter
from nur.observability import metrics
from nur.ports.vector_index import IndexOp
from tests.doubles.clock import ManualClock
from tests.index_backends import found_alone
from tests.index_notes import NOW, a_note, an_upsert
from tests.servers.chroma_server import ChromaProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVERYTHING = NoteFilter(tenant=DEFAULT_TENANT)
VECTOR = np.array([1, 0, 0, 0], np.float32)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ChromaProcess]:
    with ChromaProcess(tmp_path) as process:
        yield process


def index_of(server: ChromaProcess, timeout_seconds: float = 10.0) -> ChromaVectorIndex:
    return ChromaVectorIndex(
        ChromaServer(server.host, server.port),
        store_id="store",
        embedding_version="test:model:4",
        clock=ManualClock(NOW),
        timeout_seconds=timeout_seconds,
    )


async def test_a_killed_server_is_down_and_the_index_works_again_when_it_is_back(server: ChromaProcess) -> None:
    index = index_of(server)
    await index.open()
    await index.apply([an_upsert(a_note(1), [VECTOR])])
    failed = metrics.CHROMA_ERRORS.labels("ConnectError")._value.get()

    server.kill()
    message = f"Cannot connect to ChromaDB at {server.host}:{server.port}. Ensure ChromaDB is running."
    for call in (index.query(VECTOR, EVERYTHING, 1), index.apply([an_upsert(a_note(2), [VECTOR])]), index.count()):
        with pytest.raises(IndexDown) as caught:
            await call
        assert str(caught.value) == message
        assert caught.value.__cause__ is not None
    health = await index.health()
    assert (health.healthy, health.error) == (False, message)
    assert metrics.CHROMA_ERRORS.labels("ConnectError")._value.get() > failed

    server.start()
    assert (await index.health()).healthy
    assert found_alone(await index.query(VECTOR, EVERYTHING, 1), 1000)
    await index.apply([an_upsert(a_note(2), [VECTOR])])
    assert await index.count() == 2
    await index.close()


async def test_a_server_that_hangs_is_down_after_the_timeout(server: ChromaProcess) -> None:
    index = index_of(server, timeout_seconds=0.5)
    await index.open()
    await index.apply([an_upsert(a_note(1), [VECTOR])])
    server.freeze()
    with pytest.raises(IndexDown):
        await index.query(VECTOR, EVERYTHING, 1)
    server.thaw()
    assert len(await index.query(VECTOR, EVERYTHING, 1)) == 1
    await index.close()


async def test_an_index_opens_when_its_server_comes_up_later(tmp_path: Path) -> None:
    server = ChromaProcess(tmp_path)
    index = index_of(server)
    with pytest.raises(IndexDown):
        await index.open()
    assert not (await index.health()).healthy
    with server:
        await index.open()
        assert await index.count() == 0
        server.kill()
        await index.close()  # nobody is there to take the mark: logged, not raised


async def test_operations_are_counted_by_type(server: ChromaProcess) -> None:
    def counted() -> dict[str, float]:
        return {name: metrics.CHROMA_OPERATIONS.labels(name)._value.get() for name in ("add", "query", "delete")}

    index, before = index_of(server), counted()
    await index.open()
    await index.apply([an_upsert(a_note(1), [VECTOR])])
    await index.query(VECTOR, NoteFilter(tenant=DEFAULT_TENANT, kinds=frozenset({a_note(1).kind})), 1)
    await index.apply([IndexOp(a_note(1).note_id, 9)])
    assert {name: value - before[name] for name, value in counted().items()} == {"add": 1, "query": 1, "delete": 1}
    await index.close()
