"""The store's files: checks that they belong to the store, are still in place and can be written."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from nur.adapters.sql.runner import StoreCondition
from nur.adapters.sql.sqlite.failures import cause_of
from nur.domain.errors import BadConfiguration, StoreForeign, StoreFull, StoreMissing

if TYPE_CHECKING:
    from pathlib import Path


FILE = "nur.db"
#: Holds the store's id. It is written when the store is made, so that a lost nur.db is not taken for a new store.
MARKER = "nur.id"
STORE_ID = "store_id"

_BACKUP = "Restore a backup of the folder."

#: With less than this, one write succeeds and the next does not: the disk still counts as full.
ENOUGH_BYTES = 4 * 1024 * 1024


class StoreFiles:
    """The database, its write-ahead log and its marker."""

    def __init__(self, folder: Path) -> None:
        self.database = folder / FILE
        self.log = folder / f"{FILE}-wal"
        self.marker = folder / MARKER
        self._opened: dict[Path, tuple[int, int]] = {}

    @property
    def exists(self) -> bool:
        """Whether there is a database; an empty file is none."""
        return _size(self.database) > 0

    @property
    def is_new(self) -> bool:
        """Whether no store was ever kept here."""
        return not self.exists and self.closed_cleanly and self.marked_id() is None

    @property
    def closed_cleanly(self) -> bool:
        """Whether the last owner left no writes in the log."""
        return _size(self.log) == 0

    def marked_id(self) -> str | None:
        """The store's id by the marker; None without one."""
        try:
            return self.marker.read_text(encoding="ascii").strip() or None
        except FileNotFoundError:
            return None

    def mark(self, store_id: str) -> None:
        """Write the marker. Raises OSError."""
        if self.marked_id() == store_id:
            return
        new = self.marker.with_suffix(".new")
        with open(new, "w", opener=lambda name, flags: os.open(name, flags, 0o600), encoding="ascii") as file:
            file.write(f"{store_id}\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.marker)

    def refuse_lost(self) -> None:
        """Check the files before they are opened. Raises StoreMissing, StoreForeign, BadConfiguration."""
        if not self.exists:
            self._refuse_missing()
        elif self.database.is_symlink() or self.database.stat().st_nlink > 1:
            raise BadConfiguration(
                f"NUR_DATA_DIR: {self.database} is a link, or has another name elsewhere: two servers could write "
                "to it. Set NUR_DATA_DIR to the folder that holds the file itself, or put a copy here."
            )
        elif (found := self._id_in_file()) is not None:
            self.refuse_foreign(found)

    def refuse_foreign(self, store_id: str | None) -> None:
        """Compare the database's id (None: it has none) with the marker. Raises StoreForeign."""
        marked = self.marked_id()
        if marked is not None and marked != store_id:
            raise StoreForeign(
                f"{self.database} does not hold the store that was kept here; nothing was changed. {_BACKUP} "
                f"If it is the store that you want, delete {self.marker} and start again."
            )

    def remember(self) -> None:
        """Record which files were opened, for `check`."""
        for path in (self.database, self.log):
            with contextlib.suppress(FileNotFoundError):
                self._opened[path] = _identity(path)

    def check(self) -> None:
        """Raises StoreMissing unless the opened files are still those under their names.

        An open file keeps its inode, so a new file cannot have it. Windows does not let open files go at all.
        """
        for path, identity in self._opened.items():
            try:
                same = _identity(path) == identity
            except OSError:
                same = False
            if not same:
                raise StoreMissing(
                    f"{path.name} was deleted, moved or replaced while the server ran; the write was refused. "
                    "Put the file back, or stop the server and restore a backup."
                )

    def _refuse_missing(self) -> None:
        if not self.closed_cleanly:
            raise StoreMissing(
                f"{self.log} holds writes, but {FILE} is missing beside it; nothing was changed. Put {FILE} back, "
                f"or restore a backup. To start with a new, empty store, move {self.log.name} and {MARKER} away."
            )
        if self.marked_id() is not None:
            raise StoreMissing(
                f"{self.database} is missing or empty, but a store was kept here. {_BACKUP} "
                f"To start with a new, empty store, delete {self.marker}."
            )

    def _id_in_file(self) -> str | None:
        """The id in the database, read without its log: SQLite would apply the log to any file next to it."""
        address = f"{self.database.absolute().as_uri()}?mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(address, uri=True)) as database:
                row = database.execute("SELECT value FROM store_facts WHERE name = ?", (STORE_ID,)).fetchone()
        except sqlite3.Error:
            return None  # it may be readable only with its log
        return None if row is None else str(row[0])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


class FilesCondition(StoreCondition):
    """The condition of a store in files. Failures are cleared by a successful write only."""

    def __init__(self, files: StoreFiles) -> None:
        super().__init__(cause_of)
        self.files = files

    def check_files(self) -> None:
        """Check the files and record the result. Raises StoreMissing when they are not where they were."""
        try:
            self.files.check()
        except StoreMissing as error:
            self.failed(error)
            raise

    def wrote(self) -> None:
        """Record a committed write, unless the disk is still nearly full."""
        if not (isinstance(self.problem, StoreFull) and self._free_bytes() < ENOUGH_BYTES):
            super().wrote()

    def _free_bytes(self) -> int:
        return shutil.disk_usage(self.files.database.parent).free
