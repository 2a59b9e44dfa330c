"""The server profile: PostgreSQL with pgvector. Only settings differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from nur.adapters.pgvector.vector_index import PgVectorIndex
from nur.domain.errors import BadConfiguration
from nur.settings import load
from tests.rest_client import rest_of
from tests.servers.postgres_server import PostgresCluster, shared_cluster
from tests.store_backends import empty_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection

    from tests.acceptance.conftest import Door, OpenDoor

LONG = " ".join(f"Chapter {i} tells of the lighthouse keeper number {i} and his lamp." for i in range(300))


@pytest.fixture
def postgres() -> dict[str, Any]:
    """Settings for an empty database."""
    return {"database_url": shared_cluster().emptied(empty_database()), "database_allow_unsynced": True}


@pytest.fixture
def own_cluster() -> Iterator[PostgresCluster]:
    """A server that the test may stop."""
    cluster = PostgresCluster()
    yield cluster
    cluster.remove()


async def ids(nur: Door, query: str) -> list[str]:
    found = await nur.data("memory_search", query=query, limit=3)
    return [hit["id"] for hit in found["hits"]]


async def test_everything_works_through_the_same_tools(open_door: OpenDoor, postgres: dict[str, Any]) -> None:
    async with open_door(**postgres) as nur:
        assert nur.services.index.name == "pgvector"
        stored = await nur.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
        assert stored["index_state"] == "indexed"  # with the commit: nothing waits in the outbox
        assert await ids(nur, "toast, loaf, flour or baguette?") == [stored["memory_id"]]  # no word of it
        assert await ids(nur, "rye") == [stored["memory_id"]]
        book = {"artifact_type": "doc", "source_system": "drive", "source_id": "1"}
        ingested = await nur.data("artifact_ingest", content=LONG, **book)
        assert "lighthouse keeper number 123" in await nur.text("artifact_search", query="keeper number 123")
        assert (await nur.data("artifact_ingest", content=LONG, **book))["outcome"] == "unchanged"
        assert (await nur.data("artifact_ingest", content=LONG[:900], **book))["outcome"] == "replaced"
        got = await nur.data("artifact_get", artifact_id=ingested["artifact_id"], include_content=True)
        assert got["content"] == LONG[:900]

    async with open_door(**postgres) as nur:
        assert await ids(nur, "rye bread") == [stored["memory_id"]]
        await nur.text("memory_delete", memory_id=stored["memory_id"])
        assert await ids(nur, "rye bread") == []


async def test_two_servers_share_one_database(open_door: OpenDoor, postgres: dict[str, Any], tmp_path: Path) -> None:
    async with open_door(**postgres) as one, open_door(**postgres, nur_data_dir=tmp_path / "other") as other:
        stored = await one.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
        assert await ids(other, "rye") == [stored["memory_id"]]
        assert await ids(other, "toast, loaf, flour or baguette?") == [stored["memory_id"]]
        await other.text("memory_delete", memory_id=stored["memory_id"])
        assert await ids(one, "rye") == []
        async with rest_of(one.services) as first, rest_of(other.services) as second:
            found = await first.ok("POST", "/v2/searches", {"query": "bread"})
            await second.ok("GET", f"/v2/searches/{found['search_id']}")  # at once, whoever answered
            made = await first.call("POST", "/v2/notes", {"text": "Tea at four."}, Idempotency_Key="once")
            again = await second.call("POST", "/v2/notes", {"text": "Tea at four."}, Idempotency_Key="once")
            assert made.json()["operation"] == "created"
            assert again.json() == made.json()  # the answer that is kept, not "unchanged"


async def test_an_outage_is_an_error_that_can_be_retried_and_ends_by_itself(
    open_door: OpenDoor, own_cluster: PostgresCluster
) -> None:
    async with open_door(database_url=own_cluster.url(), database_allow_unsynced=True) as nur:
        memory = {"content": "The keeper likes rye bread", "type": "fact", "confidence": 1.0}
        stored = await nur.data("memory_store", **memory)
        own_cluster.stop()
        refused = await nur.call("memory_store", **memory | {"content": "Tea at four"})
        assert refused.is_error
        assert refused.structured_content is not None
        assert refused.structured_content["code"] == "storage_failed"
        assert refused.structured_content["retryable"] is True
        assert "PostgreSQL does not answer" in refused.structured_content["message"]
        async with rest_of(nur.services) as rest:
            await rest.problem(503, "POST", "/v2/searches", {"query": "rye"})
        own_cluster.start()
        assert await ids(nur, "rye") == [stored["memory_id"]]
        await nur.data("memory_store", **memory | {"content": "Tea at four"})


async def test_the_vectors_of_a_model_have_an_index_of_their_own(open_door: OpenDoor, postgres: dict[str, Any]) -> None:
    def made(connection: Connection) -> list[str]:
        found = text("SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'ix_vectors_%'")
        return [str(definition) for definition in connection.execute(found).scalars()]

    async with open_door(**postgres) as nur:
        assert isinstance(nur.services.index, PgVectorIndex)
        model = nur.services.embedder.model
        definitions = await nur.services.index.run.read(made)  # the database may know other models from other tests
        (definition,) = (one for one in definitions if model.version in one)
        assert "USING hnsw" in definition
        assert f"halfvec({model.dimensions})" in definition


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"index": "flat", "database_url": "postgresql://nur@localhost/nur"}, "INDEX=flat sees only the writes"),
        ({"index": "pgvector"}, "INDEX=pgvector needs DATABASE_URL"),
        ({"backup_dir": "backups", "database_url": "postgresql://nur@localhost/nur"}, "BACKUP_DIR works with SQLite"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, str], says: str) -> None:
    with pytest.raises(BadConfiguration, match=says):
        load(**settings)
