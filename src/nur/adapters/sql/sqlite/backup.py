"""Back up a SQLite store into one file, while it is written to, and keep the newest of such files in a folder."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import shutil
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from nur.adapters.backup import bundle
from nur.adapters.sql.sqlite.failures import FULL
from nur.adapters.sql.sqlite.files import FILE, STORE_ID, StoreFiles
from nur.adapters.sql.sqlite.integrity import reading, thorough_check
from nur.domain.errors import NotFound, NurError, StoreDown, StoreFull

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from nur.adapters.backup.bundle import Manifest


PLAIN, ENCRYPTED = ".tar.gz", ".tar.gz.enc"
_STEP = "nur-"

_NAME = re.compile(r"nur-(\d{8}T\d{6})Z\.tar\.gz(\.enc)?")


def backup_name(now: datetime, *, encrypted: bool) -> str:
    """The name of a backup made now; names sort by time."""
    return f"{_STEP}{now:%Y%m%dT%H%M%SZ}{ENCRYPTED if encrypted else PLAIN}"


def back_up(
    folder: Path,
    target: Path,
    now: datetime,
    passphrase: str | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Manifest:
    """Copy the store as it is at one moment, check the copy, and write it to a new file, which is read again.

    The file appears only when it is complete and verified. Writers are not blocked. Raises NotFound,
    StoreUnusable, StoreFull, StoreDown.
    """
    files = StoreFiles(folder)
    if not files.exists and files.is_new:
        raise NotFound(f"There is no store in {folder}.")
    files.refuse_lost()
    with _our_errors(target), _scratch(target) as scratch:
        _copy(files.database, scratch / FILE)
        thorough_check(scratch / FILE)
        manifest = _manifest(scratch / FILE, now)
        step = _Steps(2 * manifest.files[FILE].bytes, progress)
        bundle.write(scratch / target.name, manifest, scratch, passphrase, step)
        if bundle.read(scratch / target.name, passphrase, None, step) != manifest:
            raise StoreDown("The backup could not be read again; nothing was kept of it. Try again.")
        (scratch / target.name).replace(target)
        sync_folder(target.parent)
    return manifest


class _Steps:
    """Adds up bytes."""

    def __init__(self, total: int, progress: Callable[[int, int], None]) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def __call__(self, size: int) -> None:
        self._done += size
        self._progress(self._done, self._total)


@contextmanager
def _scratch(target: Path) -> Iterator[Path]:
    """A private folder next to the target; the leftovers of a killed backup of the same name are deleted."""
    folder = target.with_name(f".{target.name}.part")
    shutil.rmtree(folder, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_left_over(path: Path) -> bool:
    """Whether a backup that was killed may have left this folder."""
    return path.name.startswith(f".{_STEP}") and path.name.endswith(".part") and path.is_dir()


def _copy(source: Path, target: Path) -> None:
    """One step, in one read transaction: a copy in several starts again whenever somebody writes."""
    target.touch(mode=0o600)
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, timeout=30)) as store,
        closing(sqlite3.connect(target)) as copy,
    ):
        store.backup(copy, pages=-1)


def _manifest(database: Path, now: datetime) -> Manifest:
    with reading(database) as store:
        (schema,) = store.execute("SELECT version_num FROM alembic_version").fetchone()
        (store_id,) = store.execute("SELECT value FROM store_facts WHERE name = ?", (STORE_ID,)).fetchone()
        (notes,) = store.execute("SELECT count(*) FROM memory_notes").fetchone()
    return bundle.Manifest(
        created_at=now.isoformat(timespec="seconds"),
        program=version("nur-memory"),
        schema=schema,
        store_id=store_id,
        notes=notes,
        files={FILE: bundle.describe_file(database)},
    )


@contextmanager
def _our_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        full = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL
        raise StoreFull(FULL) if full else StoreDown("The store could not be copied. Try again.") from error
    except OSError as error:
        raise _of_file(error, target) from error


def _of_file(error: OSError, target: Path) -> NurError:
    if error.errno == errno.ENOSPC:
        return StoreFull(FULL)
    return StoreDown(f"Cannot write {target} ({error.strerror}).")


def sync_folder(folder: Path) -> None:
    """Make renames in a folder last; some systems cannot, and need not."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@dataclass(frozen=True, slots=True)
class SqliteBackups:
    """Backups of the store in `data_dir`, in `folder`; encrypted where there is a passphrase."""

    data_dir: Path
    folder: Path
    passphrase: str | None = None

    async def newest(self) -> datetime | None:
        """When the last one was made, UTC; None: there is none. Raises StoreDown."""
        found = await asyncio.to_thread(self._existing)
        return max((moment for moment, _ in found), default=None)

    async def make(self, now: datetime) -> int:
        """Make one and return its size in bytes. Raises StoreFull, StoreDown, StoreUnusable."""
        target = self.folder / backup_name(now, encrypted=self.passphrase is not None)
        await asyncio.to_thread(back_up, self.data_dir, target, now, self.passphrase)
        return target.stat().st_size

    async def prune(self, keep: int) -> int:
        """Delete all but the newest ones, and what killed backups left; returns how many backups went."""
        return await asyncio.to_thread(self._prune, keep)

    def _existing(self) -> list[tuple[datetime, Path]]:
        """Oldest first."""
        try:
            paths = list(self.folder.iterdir()) if self.folder.exists() else []
        except OSError as error:
            raise StoreDown(f"BACKUP_DIR: cannot read {self.folder} ({error.strerror}).") from error
        named = ((path, _NAME.fullmatch(path.name)) for path in paths)
        return sorted((_moment(match[1]), path) for path, match in named if match is not None)

    def _prune(self, keep: int) -> int:
        too_old = self._existing()[:-keep]
        for _, path in too_old:
            path.unlink(missing_ok=True)
        for path in filter(is_left_over, list(self.folder.iterdir())):
            shutil.rmtree(path, ignore_errors=True)
        return len(too_old)


def _moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
