"""Moving a store: to PostgreSQL and back, with everything, without embedding anything."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from nur.adapters.sql.moving.ends import StorePlace, filling
from nur.adapters.sql.moving.move import move
from nur.adapters.sql.postgres.engine import make_engine
from nur.entrypoints.cli.app import run
from tests.doubles.clock import ManualClock
from tests.rest_client import rest_of
from tests.servers.postgres_server import shared_cluster
from tests.store_backends import empty_database

if TYPE_CHECKING:
    from pathlib import Path

    from nur.adapters.sql.moving.move import MoveManifest
    from tests.acceptance.conftest import Door, OpenDoor

LONG = " ".join(f"Chapter {i} tells of the lighthouse keeper number {i} and his lamp." for i in range(300))
QUESTIONS = ("rye", "toast, loaf, flour or baguette?", "keeper number 123", "what happened on 7 May 2026?")


@pytest.fixture
def url() -> str:
    """An empty database."""
    return shared_cluster().emptied(empty_database())


def on(url: str, folder: Path) -> dict[str, Any]:
    return {"database_url": url, "database_allow_unsynced": True, "nur_data_dir": folder}


def go(source: Path | str, target: Path | str) -> MoveManifest:
    return move(StorePlace(source), StorePlace(target), ManualClock(), lambda *_: None)


async def fill(nur: Door) -> None:
    """Notes of several kinds, a replaced one, one in the trash, a search."""
    await nur.data("memory_store", content="The keeper likes rye bread on 7 May 2026", type="fact", confidence=0.7)
    gone = await nur.data("memory_store", content="To be forgotten", type="fact", confidence=1.0)
    await nur.text("memory_delete", memory_id=gone["memory_id"])
    book = {"artifact_type": "doc", "source_system": "drive", "source_id": "1", "title": "Über 日本語 🦉"}
    await nur.data("artifact_ingest", content=LONG, **book)
    await nur.data("artifact_ingest", content=f"{LONG} The end.", **book)
    for index in range(3):
        await nur.data("history_append", conversation_id="c", turn_index=index, role="user", content=f"Tea at {index}")
    await answers(nur)


async def answers(nur: Door) -> list[list[tuple[str, float]]]:
    """The hits of some questions, with their scores."""
    found = [await nur.data("hybrid_search", query=one, include_memory=True, limit=5) for one in QUESTIONS]
    return [[(hit["id"], round(hit["score"], 3)) for hit in one["hits"]] for one in found]


async def versions(nur: Door) -> Any:
    async with rest_of(nur.services) as rest:
        notes = await rest.ok("GET", "/v2/notes?kind=artifact")
        return await rest.ok("GET", f"/v2/notes/{notes['notes'][0]['note_id']}/versions")


def _counted_by_the_planner(url: str, table: str) -> int:
    """Rows of which PostgreSQL's planner knows; -1: the table was never analysed."""
    engine = make_engine(url, 1)
    with engine.connect() as connection:
        found = connection.execute(text("SELECT reltuples::int FROM pg_class WHERE relname = :name"), {"name": table})
        rows: int = found.scalar_one()
    engine.dispose()
    return rows


async def test_a_store_moves_to_postgresql_and_back_and_answers_as_before(
    open_door: OpenDoor, url: str, tmp_path: Path
) -> None:
    async with open_door() as nur:
        await fill(nur)
        before, kept = await answers(nur), await versions(nur)
    database = tmp_path / "data" / "nur.db"
    bytes_before = hashlib.sha256(database.read_bytes()).hexdigest()

    there = go(tmp_path / "data", url)
    assert hashlib.sha256(database.read_bytes()).hexdigest() == bytes_before
    rows = {one.name: one.rows for one in there.tables}
    assert rows["memory_notes"] == 6
    assert rows["note_versions"] == 1
    assert rows["note_chunk_embeddings"] > 6
    assert rows["note_times"] >= 1
    assert _counted_by_the_planner(url, "memory_notes") == 6

    back = go(url, tmp_path / "back")
    assert [(one.name, one.rows, one.sha256) for one in back.tables] == [
        (one.name, one.rows, one.sha256) for one in there.tables
    ]
    for settings in (on(url, tmp_path / "postgres"), {"nur_data_dir": tmp_path / "back"}):
        async with open_door(**settings) as nur:
            version = nur.services.embedder.model.version
            assert await nur.services.stores.vectors.count_missing(version) == 0  # nothing is left to embed
            assert await answers(nur) == before
            assert await versions(nur) == kept
            again = await nur.data("memory_store", content="Something new", type="fact", confidence=1.0)
            assert again["outcome"] == "created"  # keys go on where they were


async def test_a_move_that_was_stopped_goes_on_and_copies_only_what_is_missing(
    open_door: OpenDoor, url: str, tmp_path: Path
) -> None:
    async with open_door() as nur:
        await fill(nur)

    class StoppedError(Exception):
        pass

    def stop_there(name: str, rows: int) -> None:
        if name == "note_chunk_embeddings":
            raise StoppedError

    with pytest.raises(StoppedError):
        move(StorePlace(tmp_path / "data"), StorePlace(url), ManualClock(), stop_there)
    second = {one.name: one.written for one in go(tmp_path / "data", url).tables}
    assert second["memory_notes"] == 0
    assert second["memory_note_chunks"] == 0
    assert any(second.values())
    assert not any(one.written for one in go(tmp_path / "data", url).tables)
    async with open_door(**on(url, tmp_path / "postgres")) as nur:
        assert (await answers(nur))[0]


async def test_what_differs_in_the_target_is_copied_again(open_door: OpenDoor, url: str, tmp_path: Path) -> None:
    async with open_door() as nur:
        await fill(nur)
    store_id = go(tmp_path / "data", url).store_id
    with filling(StorePlace(url), store_id) as (engine, _), engine.begin() as connection:
        connection.execute(text("UPDATE memory_notes SET title = 'forged'"))
        connection.execute(text("DELETE FROM note_versions"))
    written = {one.name: one.written for one in go(tmp_path / "data", url).tables}
    assert written["memory_notes"] == 6
    assert written["note_versions"] == 1


async def test_a_target_with_notes_of_its_own_is_left_alone(
    open_door: OpenDoor, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_door(**on(url, tmp_path / "postgres")) as nur:
        await nur.data("memory_store", content="Somebody else's", type="fact", confidence=1.0)
    async with open_door() as nur:
        await nur.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
    assert run(["migrate", "--to", url]) == 2
    assert "has a store of its own" in capsys.readouterr().err
    assert run(["migrate", "--to", "mysql://localhost/nur"]) == 2
    assert run(["migrate", "--data-dir", str(tmp_path / "nothing"), "--to", url]) == 5


async def test_the_command_prints_the_manifest(
    open_door: OpenDoor, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_door() as nur:
        await nur.data("memory_store", content="The keeper likes rye bread", type="fact", confidence=1.0)
    assert run(["migrate", "--to", url, "--json"]) == 0
    manifest = json.loads(capsys.readouterr().out)
    assert {"name": "memory_notes", "rows": 1}.items() <= next(
        one for one in manifest["tables"] if one["name"] == "memory_notes"
    ).items()
    assert run(["migrate", "--to", url]) == 0
    assert "Set DATABASE_URL to the target" in capsys.readouterr().out
