"""Migrated, empty stores: copying one is faster than migrating for every test."""

from __future__ import annotations

import asyncio
import atexit
import shutil
import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from nur.adapters.sql.sqlite.files import FILE
from nur.adapters.sql.sqlite.stores import SqliteStores
from nur.ports.clock import SystemClock


async def _migrate(folder: Path) -> None:
    stores = SqliteStores(folder)
    await stores.open(SystemClock().now())
    await stores.close()


@cache
def empty_store_file() -> Path:
    """The file of a migrated, empty store, created once per process."""
    folder = Path(tempfile.mkdtemp(prefix="nur-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    asyncio.run(_migrate(folder))
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as store:
        store.execute("DELETE FROM store_facts WHERE name = 'store_id'")  # each copy gets its own id
    return folder / FILE


def copy_store(empty_store: Path, folder: Path) -> Path:
    """Put a copy of an empty store into a new folder."""
    folder.mkdir()
    shutil.copy(empty_store, folder / FILE)
    return folder
