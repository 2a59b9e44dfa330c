"""LateRows: up to which key a reader has seen every row of a table.

Keys are drawn before they are committed: a row may appear after one with a larger key was read. It can no longer do so
when every transaction that was writing to the table at that time has ended, and the rows were read once more since.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

#: Who writes to a table has this lock before a key is drawn, until the transaction ends.
_WRITERS = text(
    "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowExclusiveLock'"
    " AND relation = to_regclass(:table)"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


@dataclass(slots=True)
class Reading:
    """One look at the table."""

    settled: int  #: rows after this key must be read, whether they were read before or not
    last: int  #: the largest key that was read, now or before


@dataclass(slots=True)
class LateRows:
    """Remembers what one reader may have missed. Readers in several threads share it."""

    table: str
    _settled: int = 0
    _read: int = 0  #: a larger key that was read, and who was writing just after
    _writing: frozenset[str] = frozenset()
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def reading(self, connection: Connection, last: int) -> Iterator[Reading]:
        """Read the table inside the block, in a snapshot that is taken there: nothing was read before."""
        with self._lock:
            # Known before the snapshot is taken: what it shows up to there is final.
            final = self._read if not self._writing else 0
            reading = Reading(self._settled, last)
        yield reading
        if reading.last <= self._settled:
            return
        writing = frozenset(connection.execute(_WRITERS, {"table": self.table}).scalars())
        with self._lock:
            if final and final == self._read:
                self._settled, self._read = final, 0
            if self._read:
                self._writing &= writing
            elif reading.last > self._settled:
                self._read, self._writing = reading.last, writing
