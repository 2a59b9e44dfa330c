"""A SQLite runner that simulates a crash by copying the database files before a commit."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from nur.adapters.sql.sqlite.files import FILE, MARKER
from nur.adapters.sql.sqlite.threads import SqliteRunner

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sqlalchemy import Connection

P = ParamSpec("P")
T = TypeVar("T")


class CrashingRunner(SqliteRunner):
    """If `crash_into` is set, copies the files there after the next write's work and before its commit."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.crash_into: Path | None = None

    async def write(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        into, self.crash_into = self.crash_into, None

        def written(connection: Connection) -> T:
            result = body(connection, *args, **kwargs)
            if into is not None:
                self.copy_files(into)
            return result

        return await super().write(written)

    def copy_files(self, into: Path) -> None:
        """Copy what the next process would find: the database and its log, without what was only in memory."""
        into.mkdir()
        for name in (FILE, f"{FILE}-wal", MARKER):
            if (self._folder / name).exists():
                shutil.copy(self._folder / name, into / name)
