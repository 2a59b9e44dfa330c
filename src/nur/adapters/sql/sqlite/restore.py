"""Put a backup in the place of a SQLite store."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.adapters.backup import bundle
from nur.adapters.sql import migrations
from nur.adapters.sql.folder import DataFolder
from nur.adapters.sql.sqlite.backup import sync_folder
from nur.adapters.sql.sqlite.files import FILE, STORE_ID, StoreFiles
from nur.adapters.sql.sqlite.integrity import reading, thorough_check
from nur.domain.errors import StoreDamaged, StoreForeign, StoreNewer
from nur.ports.store_facts import RESTORED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from nur.adapters.backup.bundle import Manifest

SCRATCH = "restore.part"


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored, and where the previous store is now; None: there was none."""

    manifest: Manifest
    aside: Path | None


def check_backup(
    file: Path, passphrase: str | None, folder: Path, progress: Callable[[int], None] = lambda _: None
) -> Manifest:
    """Unpack a backup into a folder and check all of it. Raises StoreDamaged, StoreNewer, BadRequest."""
    manifest = bundle.read(file, passphrase, folder, progress)
    if FILE not in manifest.files:
        raise StoreDamaged(f"{file} holds no store.")
    if manifest.schema > migrations.HEAD:
        raise StoreNewer(
            f"The backup has schema {manifest.schema}, this program knows {migrations.HEAD}. "
            "Update nur-memory; nothing was changed."
        )
    thorough_check(folder / FILE)
    with reading(folder / FILE) as store:
        found = store.execute("SELECT value FROM store_facts WHERE name = ?", (STORE_ID,)).fetchone()
    if found != (manifest.store_id,):
        raise StoreDamaged(f"{file} holds another store than its manifest says.")
    return manifest


def restore(
    folder: Path,
    file: Path,
    now: datetime,
    passphrase: str | None = None,
    *,
    other_store: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Restored:
    """Check the backup, then replace the folder's store with it; the previous store is kept next to it.

    Killed at any moment, the folder has its previous store, the restored one, or one that is refused with what to do:
    never an empty one. Raises DataFolderInUse, StoreForeign, StoreDamaged, StoreNewer, BadRequest.
    """
    owned = DataFolder(folder)
    owned.acquire()
    try:
        with _scratch(folder) as scratch:
            manifest = check_backup(file, passphrase, scratch, progress)
            files = StoreFiles(folder)
            _refuse_other(files, manifest, other_store=other_store)
            _mark_restored(scratch / FILE, now)
            aside = _replace(files, scratch / FILE, manifest.store_id, now)
        return Restored(manifest, aside)
    finally:
        owned.release()


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    scratch = folder / SCRATCH
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _refuse_other(files: StoreFiles, manifest: Manifest, *, other_store: bool) -> None:
    if not other_store and files.marked_id() not in (None, manifest.store_id):
        raise StoreForeign(
            f"The backup is of another store than the one in {files.database.parent}; nothing was changed. "
            "Restore it into an empty folder (--data-dir), or name --other-store to replace the store that is there."
        )


def _mark_restored(database: Path, now: datetime) -> None:
    """A vector index outside the store may be ahead of it now: it has to be filled again."""
    with closing(sqlite3.connect(database, isolation_level=None)) as store:
        store.execute("INSERT OR REPLACE INTO store_facts (name, value) VALUES (?, ?)", (RESTORED, now.isoformat()))
    with database.open("rb") as file:
        os.fsync(file.fileno())


def _replace(files: StoreFiles, new: Path, store_id: str, now: datetime) -> Path | None:
    """Put the new database in its place.

    The marker comes first and stays: without its database the folder is refused, not taken for a new one. The log goes
    before the new database comes: it would be applied to it.
    """
    folder = files.database.parent
    if files.marked_id() is None:
        files.mark(store_id)
    previous = [path for path in (files.database, files.log, folder / f"{FILE}-shm") if path.exists()]
    aside = folder / f"before-restore-{now:%Y%m%dT%H%M%SZ}" if previous else None
    if aside is not None:
        aside.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(files.marker, aside / files.marker.name)
        for path in previous:
            path.replace(aside / path.name)
        sync_folder(aside)
    new.replace(files.database)
    sync_folder(folder)
    files.mark(store_id)
    return aside
