"""The data folder: one process owns it."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import IO, TYPE_CHECKING

from nur.domain.errors import BadConfiguration, DataFolderInUse

if TYPE_CHECKING:
    from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    def _lock_folder(path: Path) -> int | None:
        del path  # an open file cannot be deleted here: the lock file is enough
        return None
else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _lock_folder(path: Path) -> int | None:
        """Lock the folder itself: a lock file may be deleted while it is locked, and another process make a new one."""
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise
        except OSError:  # some network file systems cannot lock a folder
            os.close(descriptor)
            return None
        return descriptor


def owner(path: Path) -> int | None:
    """The process that owns a data folder; 0 where it is unknown, None where no process owns it."""
    try:
        with (path / "lock").open("r+", encoding="ascii") as file:
            try:
                _lock(file)
            except OSError:
                with contextlib.suppress(OSError, ValueError):
                    return int(file.read())
                return 0
    except FileNotFoundError:
        return None
    return None


class DataFolder:
    """A private data folder, owned through an operating-system lock that ends with the process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[str] | None = None
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Own the folder, or raise DataFolderInUse. The process id in the lock file is information only."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.chmod(0o700)
            lock = self.path / "lock"
            lock.touch(mode=0o600)
            lock.chmod(0o600)
            file = lock.open("a+", encoding="ascii")
        except OSError as error:
            raise BadConfiguration(
                f"NUR_DATA_DIR: cannot write to {self.path} ({error.strerror}). Choose a folder that you own."
            ) from error
        try:
            _lock(file)
            self._descriptor = _lock_folder(self.path)
        except OSError as error:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            file.close()
            raise DataFolderInUse(
                f"The data folder {self.path} is in use by process {owner}. "
                "Talk to that server, stop it, or set NUR_DATA_DIR to another folder."
            ) from error
        self._file = file
        with contextlib.suppress(OSError):  # a full disk: the process id is information only
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()

    def release(self) -> None:
        """Let another process have it."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.truncate(0)
            self._file.close()
            self._file = None
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
