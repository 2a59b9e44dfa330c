"""Copies one table page by page, writing only pages that differ; and writes the target's lexical rows."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from sqlalchemy import BigInteger, String, collate, delete, insert, literal, select, text, tuple_

from nur.adapters.sql.migrations import OLDEST_PROGRAM
from nur.adapters.sql.store_facts import get_fact, set_fact
from nur.adapters.sql.stores import WRITE_PROBE
from nur.adapters.sql.tables import chunk_pieces, store_facts
from nur.domain.notes import ChunkKey
from nur.ports.store_facts import RESTORED
from nur.retrieval.pieces.stored import lexical_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Engine, Table

    from nur.adapters.sql.lexical_index import LexicalIndex


PAGE = 200
#: Facts about one database, which are not copied; nor are a move's own, which begin with `move_`.
OWN_FACTS = (RESTORED, WRITE_PROBE, OLDEST_PROGRAM)
MOVE = "move_"

Row = dict[str, Any]
Key = tuple[Any, ...]

#: The target's fact with the key of the last chunk whose lexical rows are written.
REACHED = f"{MOVE}lexical_rows"


def key_of(table: Table, row: Row) -> Key:
    """The row's primary key."""
    return tuple(row[column.name] for column in table.primary_key)


def pages(connection: Connection, table: Table) -> Iterator[list[Row]]:
    """All rows in key order, in pages."""
    after: Key | None = None
    while page := rows_after(connection, table, after, limit=PAGE):
        yield page
        after = key_of(table, page[-1])


def rows_after(
    connection: Connection, table: Table, after: Key | None, *, until: Key | None = None, limit: int | None = None
) -> list[Row]:
    """Rows with keys after `after`, up to and including `until`, in key order."""
    key = _ordered_key(connection, table)
    query = select(table).where(*wanted_rows(table), *between(connection, table, after, until)).order_by(*key)
    found = connection.execute(query if limit is None else query.limit(limit))
    return [dict(row) for row in found.mappings()]


def between(connection: Connection, table: Table, after: Key | None, until: Key | None) -> list[ColumnElement[bool]]:
    """Conditions for keys after `after`, up to and including `until`."""
    key = tuple_(*_ordered_key(connection, table))
    types = [column.type for column in table.primary_key]
    conditions: list[ColumnElement[bool]] = []
    if after is not None:
        conditions.append(key > tuple_(*map(literal, after, types)))
    if until is not None:
        conditions.append(key <= tuple_(*map(literal, until, types)))
    return conditions


def digest(rows: Sequence[Row]) -> bytes:
    """A hash of the rows' contents."""
    hashed = hashlib.sha256()
    for row in rows:
        hashed.update(json.dumps({name: _plain(value) for name, value in row.items()}, sort_keys=True).encode())
    return hashed.digest()


def _ordered_key(connection: Connection, table: Table) -> list[ColumnElement[Any]]:
    """The key's columns, with texts ordered by code points as in SQLite, whatever the database's collation."""
    if connection.dialect.name == "sqlite":
        return list(table.primary_key)
    return [collate(column, "C") if isinstance(column.type, String) else column for column in table.primary_key]


def wanted_rows(table: Table) -> list[ColumnElement[bool]]:
    """Conditions for the rows to copy: all, except facts about one database."""
    if table is not store_facts:
        return []
    return [store_facts.c.name.not_in(OWN_FACTS), ~store_facts.c.name.startswith(MOVE, autoescape=True)]


def _plain(value: Any) -> Any:
    """A JSON value that is the same for both database drivers."""
    if isinstance(value, np.ndarray):
        return np.ascontiguousarray(value, "<f4").tobytes().hex()
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, UUID):
        return value.hex
    return value.timestamp() if hasattr(value, "timestamp") else value


@dataclass(frozen=True, slots=True)
class MovedTable:
    """One table of the manifest."""

    name: str
    rows: int
    written: int  #: rows of pages that were missing or different in the target
    sha256: str  #: hash of all rows


def copy_table(source: Connection, target: Engine, table: Table, progress: Callable[[str, int], None]) -> MovedTable:
    """Copy page by page, each in its own transaction. After an interruption, the next run skips copied pages."""
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
    """Count and hash a table's rows."""
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
        if engine.dialect.name == "sqlite":  # its driver does not begin a transaction by itself
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
    """Set PostgreSQL's key sequence past the copied keys; SQLite needs no such step."""
    (key, *others) = table.primary_key
    if connection.dialect.name != "postgresql" or others or not isinstance(key.type, BigInteger) or key.foreign_keys:
        return
    sequence = connection.execute(text("SELECT pg_get_serial_sequence(:t, :c)"), {"t": table.name, "c": key.name})
    name = sequence.scalar()
    if name is not None:
        last = f"(SELECT COALESCE(MAX({key.name}), 0) FROM {table.name})"  # noqa: S608  # names of our own tables
        connection.execute(text(f"SELECT setval(:name, {last} + 1, false)"), {"name": name})


def write_lexical_rows(
    target: Engine, lexical_index: LexicalIndex, progress: Callable[[str, int], None], *, from_the_start: bool
) -> None:
    """Write the lexical rows page by page, resuming after an interruption unless `from_the_start`."""
    with writing(target) as connection:
        if from_the_start or get_fact(connection, REACHED) is None:
            connection.exec_driver_sql("DELETE FROM piece_terms")
            set_fact(connection, REACHED, "0")
        reached = int(get_fact(connection, REACHED) or 0)
    done = 0
    while True:
        with writing(target) as connection:
            page = _page(connection, reached)
            if not page:
                return
            lexical_index.add(connection, {key: lexical_rows(blob) for key, blob in page.items()}, {})
            reached = max(page)
            set_fact(connection, REACHED, str(reached))
        done += len(page)
        progress("lexical rows", done)


def _page(connection: Connection, after: int) -> dict[ChunkKey, bytes]:
    rows = chunk_pieces.c
    found = select(rows.chunk_key, rows.pieces).where(rows.chunk_key > after).order_by(rows.chunk_key).limit(PAGE)
    return {ChunkKey(row.chunk_key): row.pieces for row in connection.execute(found)}
