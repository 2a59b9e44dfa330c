"""The databases under test, with direct access to data that no port returns."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple, Protocol
from uuid import UUID

import psycopg

from nur.adapters.sql.postgres.stores import PostgresStores
from nur.adapters.sql.sqlite.files import FILE
from nur.adapters.sql.sqlite.stores import SqliteStores
from nur.domain.notes import NoteId
from nur.ports.clock import SystemClock
from tests.empty_store import copy_store, empty_store_file
from tests.servers.postgres_server import shared_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from nur.ports.stores import Stores


class AuditLine(NamedTuple):
    """A line of the audit log."""

    principal: str
    action: str
    public_id: str | None  #: None if the note was purged, because the id would reveal its content
    revision: int
    call_id: str


class DerivedAt(NamedTuple):
    """One deriver's result for a note."""

    revision: int  #: the note's
    version: int  #: the deriver's
    bands: set[int]


class StoreBackend(Protocol):
    """The stores of one database, and data that no port returns."""

    @property
    def stores(self) -> Stores: ...

    def previous_texts(self, note_id: NoteId) -> dict[int, str]:
        """A note's previous texts, by version."""
        ...

    def derived(self) -> dict[NoteId, DerivedAt]:
        """The derived rows of each note."""
        ...

    def audit(self) -> list[AuditLine]:
        """The audit log, in order."""
        ...

    def opened(self) -> list[tuple[str, int]]:
        """Note id (32 hex digits) and rank of each recorded hit, in order."""
        ...


class SqliteBackend:
    """A SQLite file in its own folder."""

    def __init__(self, folder: Path) -> None:
        self.stores = SqliteStores(copy_store(empty_store_file(), folder))
        self._address = f"{(folder / FILE).absolute().as_uri()}?mode=ro"

    def previous_texts(self, note_id: NoteId) -> dict[int, str]:
        return dict(self._rows("SELECT version, text FROM note_versions WHERE note_id = ?", note_id.hex))

    def derived(self) -> dict[NoteId, DerivedAt]:
        heads = self._rows("SELECT derivation_id, note_id, version, revision FROM derivations")
        rows = self._rows("SELECT derivation_id, band_hash FROM fingerprint_bands")
        return {
            NoteId(UUID(note_id)): DerivedAt(revision, version, {band for owner, band in rows if owner == key})
            for key, note_id, version, revision in heads
        }

    def audit(self) -> list[AuditLine]:
        query = "SELECT principal, action, public_id, revision, call_id FROM audit_log ORDER BY audit_id"
        return [AuditLine(*row) for row in self._rows(query)]

    def opened(self) -> list[tuple[str, int]]:
        return self._rows("SELECT note_id, rank FROM memory_hits ORDER BY hit_id")

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Query the file over a separate connection."""
        with closing(sqlite3.connect(self._address, uri=True)) as connection:
            return connection.execute(query, values).fetchall()


class PostgresBackend:
    """A separate database in the cluster of this test process."""

    def __init__(self, folder: Path) -> None:
        self._address = shared_cluster().emptied(empty_database())
        self.stores = PostgresStores(self._address, folder, allow_unsynced=True)

    def previous_texts(self, note_id: NoteId) -> dict[int, str]:
        return dict(self._rows("SELECT version, text FROM note_versions WHERE note_id = %s", note_id))

    def derived(self) -> dict[NoteId, DerivedAt]:
        heads = self._rows("SELECT derivation_id, note_id, version, revision FROM derivations")
        rows = self._rows("SELECT derivation_id, band_hash FROM fingerprint_bands")
        return {
            NoteId(note_id): DerivedAt(revision, version, {band for owner, band in rows if owner == key})
            for key, note_id, version, revision in heads
        }

    def audit(self) -> list[AuditLine]:
        query = "SELECT principal, action, public_id, revision, call_id FROM audit_log ORDER BY audit_id"
        return [AuditLine(*row) for row in self._rows(query)]

    def opened(self) -> list[tuple[str, int]]:
        rows = self._rows("SELECT note_id, rank FROM memory_hits ORDER BY hit_id")
        return [(note_id.hex, rank) for note_id, rank in rows]

    def _rows(self, query: LiteralString, *values: Any) -> list[tuple[Any, ...]]:
        """Query the database over a separate connection."""
        with psycopg.connect(self._address) as connection:
            return connection.execute(query, values).fetchall()


#: How to create an empty database of each kind, given a folder.
BACKENDS: Mapping[str, Callable[[Path], StoreBackend]] = {"sqlite": SqliteBackend, "postgres": PostgresBackend}


@cache
def empty_database() -> str:
    """A migrated, empty database to copy."""
    cluster = shared_cluster()
    cluster.create_named(name := "empty")
    stores = PostgresStores(cluster.url(name), cluster.folder / "migrating", allow_unsynced=True)
    asyncio.run(_migrate(stores))
    return name


async def _migrate(stores: PostgresStores) -> None:
    await stores.open(SystemClock().now())
    await stores.close()
