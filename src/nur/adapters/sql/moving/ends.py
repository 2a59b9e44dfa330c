"""Opens the two databases of a move: the source, which is only read, and the target."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from nur.adapters.sql import migrations
from nur.adapters.sql.folder import DataFolder
from nur.adapters.sql.sqlite.files import StoreFiles
from nur.adapters.sql.sqlite.lexical_index import Fts5LexicalIndex
from nur.adapters.sql.sqlite.threads import make_engine as make_sqlite
from nur.domain.errors import BadRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

    from nur.adapters.sql.lexical_index import LexicalIndex

OTHER_SCHEMA = (
    "The store was last opened by another version. Start its server once with this one, stop it, then move it; "
    "on PostgreSQL run nur upgrade as well."
)
_SNAPSHOT = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
_LOCK = text("SELECT pg_try_advisory_lock(7809624)")


@dataclass(frozen=True, slots=True)
class StorePlace:
    """Where a store is: a folder with a SQLite file, or the address of a PostgreSQL database."""

    address: str | Path

    @classmethod
    def parse(cls, given: str) -> StorePlace:
        """Parse `postgresql://…`, `sqlite:///folder` or a folder. Raises BadRequest."""
        if given.startswith(("postgresql:", "postgres:")):
            return cls(given.replace("postgres:", "postgresql:", 1))
        if "://" in given and not given.startswith("sqlite:///"):
            raise BadRequest("--to must be postgresql://user:password@host/database, or a folder for a SQLite store.")
        return cls(Path(given.removeprefix("sqlite:///")))

    def __str__(self) -> str:
        return f"the folder {self.address}" if isinstance(self.address, Path) else "PostgreSQL"  # no password


@contextmanager
def reading(place: StorePlace) -> Iterator[Connection]:
    """A read-only snapshot of the source; a folder is locked until the block ends. Raises NotFound, BadRequest."""
    if isinstance(place.address, str):
        with _disposed(_postgres(place.address)) as engine:
            _refuse_other_schema(engine)
            with engine.connect().execution_options(**_SNAPSHOT) as connection:
                yield connection
        return
    files = StoreFiles(place.address)
    if not files.exists:
        raise NotFound(f"There is no store in {place.address}.")
    folder = DataFolder(place.address)
    folder.acquire()
    try:
        if not files.closed_cleanly:
            raise BadRequest("The store was not closed cleanly. Start its server once and stop it, then move it.")
        with _disposed(make_sqlite(files.database, read_only=True)) as engine:
            _refuse_other_schema(engine)
            with engine.connect() as connection:
                connection.exec_driver_sql("BEGIN")
                yield connection
    finally:
        folder.release()


@contextmanager
def filling(place: StorePlace, store_id: str) -> Iterator[tuple[Engine, LexicalIndex]]:
    """The target: an empty store, or one that an earlier move of the same store began. Raises BadRequest."""
    if isinstance(place.address, str):
        from nur.adapters.sql.postgres.lexical_index import PostgresLexicalIndex

        with _disposed(_postgres(place.address)) as engine:
            migrations.migrate(engine)
            engine.dispose()  # connections made before the migration cannot read vectors
            with engine.connect() as lock:
                if not lock.execute(_LOCK).scalar():
                    raise BadRequest("Another process is moving a store to this database.")
                _refuse_other_store(lock, store_id)
                yield engine, PostgresLexicalIndex()
                # Until autovacuum comes by, searches would be planned for empty tables: with 10,000 notes, 2 s each.
                lock.exec_driver_sql("ANALYZE")
                lock.commit()
        return
    folder = DataFolder(place.address)
    folder.acquire()
    try:
        files = StoreFiles(place.address)
        with _disposed(make_sqlite(files.database, read_only=False)) as engine:
            migrations.migrate(engine)
            with engine.connect() as connection:
                _refuse_other_store(connection, store_id)
            yield engine, Fts5LexicalIndex()
            with engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        files.database.chmod(0o600)
        files.mark(store_id)
    finally:
        folder.release()


@contextmanager
def _disposed(engine: Engine) -> Iterator[Engine]:
    try:
        yield engine
    finally:
        engine.dispose()


def _postgres(address: str) -> Engine:
    from nur.adapters.sql.postgres.engine import make_engine

    return make_engine(address, 2)


def _refuse_other_schema(engine: Engine) -> None:
    migrations.check(engine)
    with engine.connect() as connection:
        if migrations.held_revision(connection) != migrations.HEAD:
            raise BadRequest(OTHER_SCHEMA)


def _refuse_other_store(connection: Any, store_id: str) -> None:
    found = connection.execute(text("SELECT value FROM store_facts WHERE name = 'store_id'")).scalar()
    notes = connection.execute(text("SELECT count(*) FROM memory_notes")).scalar()
    if notes and found != store_id:
        raise BadRequest("The target has a store of its own; nothing was changed. Move into an empty one.")
    connection.rollback()
