"""Checks that the database is sound: briefly before an unclean start, in the background after each, fully on demand."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

from nur.adapters.sql.sqlite.failures import DAMAGED
from nur.domain.chunks import sha256
from nur.domain.errors import StoreDamaged
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nur.adapters.sql.sqlite.files import FilesCondition

log = EventLog("Store")

#: For a check before the store opens: about a gigabyte (171 MB took 0.65 s).
BEFORE_OPENING_SECONDS = 5.0
#: For a check while the server runs.
BACKGROUND_SECONDS = 120.0
_STEPS = 20_000  #: of SQLite's machine between two looks at the time


def reading(path: Path) -> closing[sqlite3.Connection]:
    """A connection that changes nothing; where there is no log, it does not even make the files of one."""
    immutable = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
    return closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{immutable}", uri=True, timeout=30))


def quick_check(path: Path, give_up: Callable[[], bool]) -> bool | None:
    """Whether every page is sound; None when it gave up first. Reads alone, and changes nothing."""
    try:
        with reading(path) as database:
            database.set_progress_handler(give_up, _STEPS)
            return bool(database.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        return False if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) else None


def refuse_damaged(path: Path) -> None:
    """Check before opening, for a few seconds at most. Raises StoreDamaged."""
    deadline = time.monotonic() + BEFORE_OPENING_SECONDS
    if quick_check(path, lambda: time.monotonic() > deadline) is False:
        raise StoreDamaged(
            f"{path} is damaged. Restore a backup, or move the folder away to start with a new store; "
            "nothing was deleted."
        )


def thorough_check(path: Path) -> str:
    """Check every page, every index and every text against its hash; returns what was read. Raises StoreDamaged."""
    notes = 0
    try:
        with reading(path) as database:
            for (problem,) in database.execute("PRAGMA integrity_check(1)"):
                if problem != "ok":
                    raise StoreDamaged(f"{path}: {problem}")
            rows = database.execute("SELECT public_id, text, content_hash FROM memory_notes")
            for public_id, text, content_hash in rows:
                if sha256(text) != content_hash:
                    raise StoreDamaged(f"{path}: the text of {public_id} is not the text that was stored")
                notes += 1
    except sqlite3.Error as error:
        raise StoreDamaged(f"{path} cannot be read ({getattr(error, 'sqlite_errorname', 'damaged text')})") from error
    return f"{notes} notes, {path.stat().st_size / 1e6:.1f} MB"


class BackgroundCheck:
    """One check on a thread of its own; what it finds goes to the store's condition."""

    def __init__(self, condition: FilesCondition) -> None:
        self._condition = condition
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nur-integrity", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Give up, and wait until it has."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        started = time.monotonic()
        deadline = started + BACKGROUND_SECONDS
        sound = quick_check(self._condition.files.database, lambda: self._stop.is_set() or time.monotonic() > deadline)
        if sound is False:
            self._condition.failed(StoreDamaged(DAMAGED))
        elif sound is None and not self._stop.is_set():
            log.warning("integrity_unknown", seconds=round(time.monotonic() - started, 1))
