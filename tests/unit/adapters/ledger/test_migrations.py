"""The schema's history, and stores that are not to be opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from nur.adapters.in_memory.clock import ManualClock
from nur.adapters.ledger import migrations
from nur.adapters.ledger.sqlite.ledger import FILE, SqliteLedger
from nur.adapters.ledger.sqlite.threads import make_engine
from nur.adapters.ledger.tables import metadata
from nur.domain.errors import StoreDamaged, StoreForeign, StoreNewer

if TYPE_CHECKING:
    from sqlalchemy import Engine

FTS5 = ("chunk_terms", "chunk_vocabulary")


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return make_engine(tmp_path / FILE, read_only=False)


def schema(path: Path) -> dict[str, list[str]]:
    """Every object and the statement that made it, in pieces: the order of constraints means nothing."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    ours = {name: sql for name, sql in found if not name.startswith((*FTS5, "alembic"))}
    return {name: sorted(piece.strip(' ()"\n\t') for piece in sql.split(",")) for name, sql in ours.items()}


def test_head_is_the_newest_revision_there_is() -> None:
    folder = Path(migrations.__file__).parent
    assert ScriptDirectory(str(folder)).get_heads() == [migrations.HEAD]
    assert max(path.name for path in (folder / "versions").glob("[0-9]*.py")).startswith(migrations.HEAD)


def test_migrating_nothing_gives_the_tables_as_they_are_described(engine: Engine) -> None:
    assert migrations.migrate(engine)

    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "include_name": lambda name, kind, _: kind != "table" or not str(name).startswith(FTS5),
            },
        )
        assert compare_metadata(context, metadata) == []


def test_conditions_checks_and_defaults_are_the_same_too(engine: Engine, tmp_path: Path) -> None:
    """Alembic sees neither the condition of a partial index nor a check."""
    migrations.migrate(engine)
    described = tmp_path / "described.db"
    metadata.create_all(make_engine(described, read_only=False))

    assert schema(tmp_path / FILE) == schema(described)


def test_migrating_again_changes_nothing(engine: Engine) -> None:
    migrations.migrate(engine)
    assert not migrations.migrate(engine)


def a_newer_store(path: Path) -> None:
    migrations.migrate(make_engine(path, read_only=False))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()


def somebody_elses_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (a)")
        connection.execute("INSERT INTO theirs VALUES (1)")
        connection.commit()


def another_programs_migrations(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        connection.execute("INSERT INTO alembic_version VALUES ('0001')")
        connection.commit()


def garbage(path: Path) -> None:
    path.write_bytes(b"no database at all " * 500)


def half_a_database(path: Path) -> None:
    migrations.migrate(make_engine(path, read_only=False))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])


@pytest.mark.parametrize(
    ("put_there", "error", "says"),
    [
        (a_newer_store, StoreNewer, "has schema 9999, this program knows"),
        (somebody_elses_database, StoreForeign, "not Nur's"),
        (another_programs_migrations, StoreForeign, "not Nur's"),
        (garbage, StoreDamaged, "cannot be read"),
        (half_a_database, StoreDamaged, "cannot be read"),
    ],
)
async def test_a_store_that_is_not_to_be_opened_is_left_as_it_was(
    put_there: object, error: type[Exception], says: str, tmp_path: Path
) -> None:
    assert callable(put_there)
    put_there(tmp_path / FILE)
    before = (tmp_path / FILE).read_bytes()

    with pytest.raises(error, match=says):
        await SqliteLedger(tmp_path, ManualClock()).open()

    assert (tmp_path / FILE).read_bytes() == before
    (tmp_path / FILE).unlink()  # the folder was let go of: a new store can be made there
    ledger = SqliteLedger(tmp_path, ManualClock())
    await ledger.open()
    await ledger.close()


async def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    ledger = SqliteLedger(tmp_path, ManualClock())
    await ledger.open()
    assert await ledger.settle("store_id", "s") == "s"
    await ledger.close()
