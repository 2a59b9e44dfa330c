"""Rows of any table in the order of their keys, page by page, and hashes that are the same in every database."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from sqlalchemy import String, collate, literal, select, tuple_

from nur.adapters.sql.stores import WRITE_PROBE
from nur.adapters.sql.tables import store_facts
from nur.ports.store_facts import RESTORED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Table

PAGE = 200
#: Facts that belong to one database and not to what is stored. Those of a move begin with `move_`.
OWN_FACTS = (RESTORED, WRITE_PROBE)
MOVE = "move_"

Row = dict[str, Any]
Key = tuple[Any, ...]


def key_of(table: Table, row: Row) -> Key:
    """The row's primary key."""
    return tuple(row[column.name] for column in table.primary_key)


def pages(connection: Connection, table: Table) -> Iterator[list[Row]]:
    """All rows in the order of their keys."""
    after: Key | None = None
    while page := rows_after(connection, table, after, limit=PAGE):
        yield page
        after = key_of(table, page[-1])


def rows_after(
    connection: Connection, table: Table, after: Key | None, *, until: Key | None = None, limit: int | None = None
) -> list[Row]:
    """Rows with keys beyond `after`, up to and with `until`, in order."""
    key = _ordered_key(connection, table)
    query = select(table).where(*wanted_rows(table), *between(connection, table, after, until)).order_by(*key)
    found = connection.execute(query if limit is None else query.limit(limit))
    return [dict(row) for row in found.mappings()]


def between(connection: Connection, table: Table, after: Key | None, until: Key | None) -> list[ColumnElement[bool]]:
    """Keys beyond `after`, up to and with `until`."""
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
    """The key's columns; texts by their code points, as SQLite orders them, whatever the language of the database."""
    if connection.dialect.name == "sqlite":
        return list(table.primary_key)
    return [collate(column, "C") if isinstance(column.type, String) else column for column in table.primary_key]


def wanted_rows(table: Table) -> list[ColumnElement[bool]]:
    """All rows, but of the facts only those that belong to what is stored."""
    if table is not store_facts:
        return []
    return [store_facts.c.name.not_in(OWN_FACTS), ~store_facts.c.name.startswith(MOVE, autoescape=True)]


def _plain(value: Any) -> Any:
    """The same JSON for the same value, from whichever driver it comes."""
    if isinstance(value, np.ndarray):
        return np.ascontiguousarray(value, "<f4").tobytes().hex()
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, UUID):
        return value.hex
    return value.timestamp() if hasattr(value, "timestamp") else value
