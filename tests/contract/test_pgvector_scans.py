"""What pgvector's index gives up on is compared one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from sqlalchemy import text

from tests.index_backends import ALL, PgVector, keys
from tests.index_notes import a_note, an_upsert
from tests.servers.postgres_server import shared_cluster
from tests.store_backends import empty_database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

NEARER = 300  #: more than the index looks at by itself (hnsw.ef_search)
#: The planner takes the index, and pgvector gives up after one row instead of 20,000.
_HURRIED = "-c enable_sort=off -c enable_seqscan=off -c hnsw.max_scan_tuples=1"


@pytest.fixture
def backend() -> Iterator[PgVector]:
    """pgvector that gives up early."""
    address = shared_cluster().emptied(empty_database())
    made = PgVector(f"{address}&options={quote(_HURRIED)}")
    yield made
    made.close()


async def test_notes_behind_many_nearer_ones_of_others_are_found(backend: PgVector) -> None:
    """Otherwise a small project of a large store would be found in part, without a word."""
    index = backend.make()
    await index.open()
    nearer = [an_upsert(a_note(n, project="large"), [backend.vector(1, n / NEARER)]) for n in range(10, NEARER)]
    few = [an_upsert(a_note(n, project="small"), [backend.vector(-1, n)]) for n in range(1, 4)]
    await backend.apply(index, *nearer, *few)
    assert keys(await index.query(backend.vector(1), replace(ALL, project="small"), 3)) == [3000, 2000, 1000]
    assert len(await index.query(backend.vector(1), replace(ALL, project="large"), 20)) == 20


async def test_the_index_looks_at_as_many_as_each_query_rescores(backend: PgVector) -> None:
    """The setting stays with the connection, so every query must find its own."""
    index = backend.make()
    await index.open()
    looked_at = []
    for limit in (3, 60, 60, 3):
        await index.query(backend.vector(1), ALL, limit)
        looked_at.append(await backend.run.read_one(_ef_search))
    assert looked_at == ["40", "120", "120", "40"]


def _ef_search(connection: Connection) -> object:
    return connection.execute(text("SHOW hnsw.ef_search")).scalar()
