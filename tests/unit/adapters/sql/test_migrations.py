"""The schema's history, and stores that are not to be opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import insert

from nur.adapters.in_memory.clock import ManualClock
from nur.adapters.sql import migrations
from nur.adapters.sql.mapping import note_values
from nur.adapters.sql.sqlite.ledger import FILE, SqliteLedger
from nur.adapters.sql.sqlite.threads import make_engine
from nur.adapters.sql.tables import memory_notes, metadata
from nur.domain.errors import StoreDamaged, StoreForeign, StoreNewer
from nur.domain.notes import Kind
from tests.ledger_notes import START, a_note

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


def migrate_to(engine: Engine, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", "nur.adapters.sql:migrations")
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.commit()


async def test_notes_of_the_first_schema_are_found_by_their_identity(engine: Engine, tmp_path: Path) -> None:
    noon, later = START, START.replace(month=2)
    source: dict[str, Any] = {"source_system": "github", "source_id": "issues/5"}
    former = [
        (a_note("checklist", kind=Kind.NOTE, key="rel"), '["key", "", "", "", "rel"]'),
        (a_note("invoice", kind=Kind.ARTIFACT, source_system="mail", source_id="5"), '["source", "mail", "5"]'),
        (a_note("rang", kind=Kind.EVENT, occurred_at=noon), '["event", "local", "", "", "", "x", "y"]'),
        (a_note("old", kind=Kind.NOTE, project="p", **source), '["note text", "local", "p", "", "", "1"]'),
        (a_note("new", kind=Kind.NOTE, ingested_at=later, **source), '["note text", "local", "", "", "", "2"]'),
    ]
    migrate_to(engine, "0001")
    with engine.begin() as connection:
        for note, name in former:
            values = {"text": "x", "occurred_at": noon} | {k: v for k, v in note_values(note).items() if v is not None}
            connection.execute(insert(memory_notes), {**values, "identity": name})

    ledger = SqliteLedger(tmp_path, ManualClock())
    await ledger.open()
    checklist, invoice, _, old, new = (note for note, _ in former)
    for note in (checklist, invoice, new):
        found = await ledger.by_identity("default", note.identity)
        assert found is not None
        assert found.note_id == note.note_id
    assert await ledger.by_identity("default", '["event text", "local", "", "", "", "x", "y"]') is not None
    kept = await ledger.note("default", old.public_id)  # two had the source: the older one is still there
    assert kept is not None
    assert kept.meta.key == old.public_id
    named = await ledger.by_identity("default", kept.identity)
    assert named is not None
    assert named.note_id == old.note_id
    await ledger.close()


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
    assert await ledger.set_if_absent("a", "s") == "s"
    await ledger.close()
