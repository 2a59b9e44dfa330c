"""Programs of two versions on one PostgreSQL: a newer one adds to the tables, and takes away only when it is alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from nur.adapters.sql.migrations import HEAD, OURS, History
from nur.adapters.sql.postgres.stores import PostgresStores
from nur.domain.errors import DataFolderInUse, StoreNewer
from nur.entrypoints.cli.app import run
from tests.servers.postgres_server import shared_cluster
from tests.store_notes import START, at, replacement, store, write
from tests.store_queries import by_words, found_keys, keys_of

if TYPE_CHECKING:
    from pathlib import Path

ADDS, ADDS_MORE, TAKES_AWAY = (f"{int(HEAD) + step:04}" for step in (1, 2, 3))

EXPAND = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "{revision}", "{before}"

def upgrade():
    op.add_column("memory_notes", sa.Column("colour_{revision}", sa.String(), server_default="red", nullable=False))
    op.create_table("colours_{revision}", sa.Column("name", sa.String(), primary_key=True))
"""
CONTRACT = """
from alembic import op

revision, down_revision = "{revision}", "{before}"
oldest_program = "{oldest}"

def upgrade():
    op.drop_column("idempotency_keys", "owner")
"""


@pytest.fixture
def address() -> str:
    """An empty database."""
    return shared_cluster().create()


@pytest.fixture
def future(tmp_path: Path) -> Path:
    """Steps that this program does not know yet: two that add, and one that takes away what it uses."""
    folder = tmp_path / "versions"
    folder.mkdir()
    (folder / "a.py").write_text(EXPAND.format(revision=ADDS, before=HEAD))
    (folder / "b.py").write_text(EXPAND.format(revision=ADDS_MORE, before=ADDS))
    (folder / "c.py").write_text(CONTRACT.format(revision=TAKES_AWAY, before=ADDS_MORE, oldest=ADDS))
    return folder


def held(address: str) -> str:
    with psycopg.connect(address) as connection:
        (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone() or ("",)
    return str(revision)


def stores_of(address: str, folder: Path, history: History = OURS) -> PostgresStores:
    return PostgresStores(address, folder, allow_unsynced=True, history=history)


async def _works(stores: PostgresStores, call: str) -> None:
    """Writes, finds, replaces and reserves."""
    note = await write(stores, replacement(await store(stores, f"tea {call}"), f"milk {call}"))
    assert await by_words(stores, call) == [note.note_id]
    assert set(await keys_of(stores, note)) <= await found_keys(stores, f"milk {call}")
    assert await stores.idempotency.reserve(call, "hash", at(call_id=call)) is None


async def test_a_running_server_goes_on_while_a_newer_one_adds_to_the_tables(
    address: str, future: Path, tmp_path: Path
) -> None:
    running = stores_of(address, tmp_path / "running")
    await running.open(START)
    await _works(running, "before")
    newer = stores_of(address, tmp_path / "newer", history=History(ADDS, ADDS, future))
    await newer.open(START)
    assert held(address) == ADDS

    await _works(running, "beside")
    assert len(await newer.notes.all(None, 10)) == 2
    await running.close()

    again = stores_of(address, tmp_path / "running")  # an old server that is restarted in between
    await again.open(START)
    await _works(again, "again")
    await again.close()
    await newer.close()


async def test_what_an_older_server_uses_is_taken_away_when_none_is_left(
    address: str, future: Path, tmp_path: Path
) -> None:
    running = stores_of(address, tmp_path / "running")
    await running.open(START)
    newest = stores_of(address, tmp_path / "newest", history=History(TAKES_AWAY, ADDS_MORE, future))
    await newest.open(START)
    assert held(address) == ADDS_MORE  # the last step is not needed, and not taken

    with pytest.raises(DataFolderInUse, match="older version"):
        newest.finish_upgrade()
    assert held(address) == ADDS_MORE
    await _works(running, "still")
    await running.close()

    assert newest.finish_upgrade()
    assert held(address) == TAKES_AWAY
    assert not newest.finish_upgrade()
    with pytest.raises(StoreNewer, match=f"schema {TAKES_AWAY}, this program knows {HEAD}"):
        await running.open(START)
    await newest.close()
    await newest.open(START)
    await newest.close()


async def test_a_step_that_adds_behind_one_that_takes_away_needs_older_servers_to_stop(
    address: str, future: Path, tmp_path: Path
) -> None:
    after = f"{int(TAKES_AWAY) + 1:04}"
    (future / "d.py").write_text(EXPAND.format(revision=after, before=TAKES_AWAY))
    running = stores_of(address, tmp_path / "running")
    await running.open(START)
    two_releases_on = stores_of(address, tmp_path / "newest", history=History(after, after, future))

    with pytest.raises(DataFolderInUse, match="Stop or update them first"):
        await two_releases_on.open(START)
    assert held(address) == HEAD
    await running.close()

    await two_releases_on.open(START)
    assert held(address) == after
    await two_releases_on.close()


def test_the_command_finishes_what_servers_left(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["upgrade"]) == 2
    assert "a SQLite store is upgraded when its server starts" in capsys.readouterr().err
    monkeypatch.setenv("DATABASE_URL", address)
    monkeypatch.setenv("DATABASE_ALLOW_UNSYNCED", "1")
    assert run(["upgrade"]) == 0
    assert "Done" in capsys.readouterr().out
    assert held(address) == HEAD
    assert run(["upgrade"]) == 0
    assert capsys.readouterr().out == "Nothing to do.\n"
