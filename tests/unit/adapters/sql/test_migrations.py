"""The schema's history, and stores that are not to be opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, MetaData, Table, insert

from nur.adapters.sql import migrations
from nur.adapters.sql.mapping import chunk_values, note_values
from nur.adapters.sql.search_log import encode
from nur.adapters.sql.sqlite.files import FILE
from nur.adapters.sql.sqlite.stores import SqliteStores
from nur.adapters.sql.sqlite.threads import make_engine
from nur.adapters.sql.tables import memory_notes, metadata
from nur.domain.errors import StoreDamaged, StoreForeign, StoreNewer
from nur.domain.kinds import identity_of
from nur.domain.notes import Kind
from nur.ports.idempotency import IdempotencyRecord
from nur.ports.outbox import Task
from tests.store_notes import ALL, START, a_note, at, chunks_of

if TYPE_CHECKING:
    from sqlalchemy import Engine

FTS5 = ("piece_terms", "piece_vocabulary")


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


def test_a_program_needs_the_last_step_that_adds() -> None:
    scripts = ScriptDirectory(str(Path(migrations.__file__).parent))
    adding = [one.revision for one in scripts.walk_revisions() if not hasattr(one.module, migrations.OLDEST_PROGRAM)]
    assert max(adding) == migrations.NEEDED


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
    previous = [
        (a_note("checklist", kind=Kind.NOTE, key="rel"), '["key", "", "", "", "rel"]'),
        (a_note("invoice", kind=Kind.ARTIFACT, source_system="mail", source_id="5"), '["source", "mail", "5"]'),
        (a_note("rang", kind=Kind.EVENT, occurred_at=noon), '["event", "local", "", "", "", "x", "y"]'),
        (a_note("old", kind=Kind.NOTE, project="p", **source), '["note text", "local", "p", "", "", "1"]'),
        (a_note("new", kind=Kind.NOTE, ingested_at=later, **source), '["note text", "local", "", "", "", "2"]'),
    ]
    migrate_to(engine, "0001")
    with engine.begin() as connection:
        for note, name in previous:
            values = {"text": "x", "occurred_at": noon} | {k: v for k, v in note_values(note).items() if v is not None}
            connection.execute(insert(memory_notes), {**values, "identity": name})

    stores = SqliteStores(tmp_path)
    await stores.open(START)
    checklist, invoice, _, old, new = (note for note, _ in previous)
    for note in (checklist, invoice, new):
        found = await stores.notes.by_identity("default", identity_of(note))
        assert found is not None
        assert found.note_id == note.note_id
    assert await stores.notes.by_identity("default", '["event text", "local", "", "", "", "x", "y"]') is not None
    kept = await stores.notes.get("default", old.public_id)  # two had the source: the older one is still there
    assert kept is not None
    assert kept.meta.key == old.public_id
    named = await stores.notes.by_identity("default", identity_of(kept))
    assert named is not None
    assert named.note_id == old.note_id
    await stores.close()


def put(engine: Engine, table: str, values: dict[str, Any]) -> None:
    """Insert a row with the column names of an earlier schema and the types of today's."""
    today = metadata.tables[table].c
    columns = [Column(name, today[name].type if name in today else None) for name in values]
    with engine.begin() as connection:
        connection.execute(insert(Table(table, MetaData(), *columns)), values)


async def test_a_store_at_0002_is_migrated_with_its_data(engine: Engine, tmp_path: Path) -> None:
    note, (new,) = a_note("Tea."), chunks_of("Tea.")
    trace_id, item_id = uuid4(), uuid4()
    migrate_to(engine, "0002")
    put(engine, "memory_notes", {**note_values(note), "text": "Tea."})
    chunk = chunk_values(note, new, START, indexed=False)
    put(engine, "memory_note_chunks", {"profile": b"old", "sentences": b"old", **chunk})
    job = {"note_id": note.note_id, "revision": 1, "state": "pending", "available_at": START, "created_at": START}
    put(engine, "indexing_outbox", job)
    trace = {"trace_id": trace_id, "search_id": uuid4(), "tenant_id": "default", "principal": "ann", "request": {}}
    trace |= {"timings": {}, "candidates": encode({"floor": 0.1}, []), "created_at": START}
    put(engine, "search_traces", trace)
    item = {"item_id": item_id, "trace_id": trace_id, "rank": 1, "note_id": note.note_id, "chunk_id": uuid4()}
    put(engine, "search_trace_items", {**item, "scores": {"score": 0.5}})
    key = {"tenant_id": "default", "idempotency_key": "k", "request_hash": "h", "trace_id": "call", "created_at": START}
    put(engine, "idempotency_keys", {**key, "status_code": 201, "response": {"a": 1}})

    stores = SqliteStores(tmp_path)
    await stores.open(START)
    try:
        (stored,) = await stores.chunks.of_note(note.note_id)
        assert stored.chunk == new.chunk
        assert [one.note_id for one in await stores.notes.page(ALL, START, limit=9)] == [note.note_id]
        (leased,) = await stores.outbox.lease("w", 9, START, 60)
        assert (leased.note_id, leased.task) == (note.note_id, Task.INDEX)
        found = await stores.search_log.item("default", item_id)
        assert found is not None
        assert (found.scores, found.passages, found.duplicates, found.chunk_key) == ({"score": 0.5}, [], [], 0)
        assert (found.public_id, found.public_chunk_id) == (None, None)
        kept = await stores.idempotency.reserve("k", "h", at())
        assert kept == IdempotencyRecord("h", 201, {"a": 1})
    finally:
        await stores.close()


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
        await SqliteStores(tmp_path).open(START)

    assert (tmp_path / FILE).read_bytes() == before
    (tmp_path / FILE).unlink()  # the folder was let go of: a new store can be made there
    stores = SqliteStores(tmp_path)
    await stores.open(START)
    await stores.close()


async def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    stores = SqliteStores(tmp_path)
    await stores.open(START)
    assert await stores.facts.set_if_absent("a", "s") == "s"
    await stores.close()
