"""Bring one table of the target to what the source has, touching only pages that differ."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, delete, insert, text

from nur.adapters.sql.moving.rows import between, digest, key_of, pages, rows_after, wanted_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import Connection, Engine, Table

    from nur.adapters.sql.moving.rows import Key, Row


@dataclass(frozen=True, slots=True)
class MovedTable:
    """One table of the manifest."""

    name: str
    rows: int
    written: int  #: rows of pages that the target did not have, or had otherwise
    sha256: str  #: of all rows


def copy_table(source: Connection, target: Engine, table: Table, progress: Callable[[str, int], None]) -> MovedTable:
    """Copy page by page, each in a transaction of its own: stopped half-way, the next run skips what is there."""
    hashed = sha256()
    rows = written = 0
    after: Key | None = None
    for page in pages(source, table):
        wanted = digest(page)
        hashed.update(wanted)
        until = key_of(table, page[-1])
        with writing(target) as connection:
            if digest(rows_after(connection, table, after, until=until)) != wanted:
                _replace(connection, table, page, after, until)
                written += len(page)
        rows += len(page)
        after = until
        progress(table.name, rows)
    with writing(target) as connection:
        connection.execute(delete(table).where(*wanted_rows(table), *between(connection, table, after, None)))
        _continue_counting(connection, table)
    return MovedTable(table.name, rows, written, hashed.hexdigest())


def hash_table(connection: Connection, table: Table) -> MovedTable:
    """What a table holds."""
    hashed = sha256()
    rows = 0
    for page in pages(connection, table):
        hashed.update(digest(page))
        rows += len(page)
    return MovedTable(table.name, rows, 0, hashed.hexdigest())


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction on the target."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":  # whose driver begins none by itself
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.rollback()
            raise
        connection.commit()


def _replace(connection: Connection, table: Table, page: Sequence[Row], after: Key | None, until: Key) -> None:
    connection.execute(delete(table).where(*wanted_rows(table), *between(connection, table, after, until)))
    connection.execute(insert(table), list(page))


def _continue_counting(connection: Connection, table: Table) -> None:
    """PostgreSQL counts on from its own last key, not from those that were copied; SQLite does by itself."""
    (key, *others) = table.primary_key
    if connection.dialect.name != "postgresql" or others or not isinstance(key.type, BigInteger) or key.foreign_keys:
        return
    sequence = connection.execute(text("SELECT pg_get_serial_sequence(:t, :c)"), {"t": table.name, "c": key.name})
    name = sequence.scalar()
    if name is not None:
        last = f"(SELECT COALESCE(MAX({key.name}), 0) FROM {table.name})"  # noqa: S608  # names of our own tables
        connection.execute(text(f"SELECT setval(:name, {last} + 1, false)"), {"name": name})
