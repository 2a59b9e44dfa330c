"""LateRows: tracks the key up to which a reader has seen every row of a table.

A key is drawn before its row is committed, so a row may appear after a larger key was read. Keys up to the largest one
read are final once every transaction that was writing to the table then has ended, and the rows were read once more.
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

#: A writer holds this lock on the table from before it draws a key until its transaction ends.
_WRITERS = text(
    "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowExclusiveLock'"
    " AND relation = to_regclass(:table)"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


@dataclass(slots=True)
class Reading:
    """One read of the table."""

    settled: int  #: all rows after this key must be read, including those read before
    last: int  #: the largest key that was read, now or before


@dataclass(slots=True)
class LateRows:
    """Remembers which rows one reader may have missed. Thread-safe."""

    table: str
    _settled: int = 0
    _read: int = 0  #: a larger key that was read; 0: none
    _writing: frozenset[str] = frozenset()  #: transactions that were writing when `_read` was read
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def reading(self, connection: Connection, last: int) -> Iterator[Reading]:
        """Read the table inside the block; a transaction that has read before would show an old snapshot."""
        with self._lock:
            # Decided before the snapshot is taken: rows that it shows up to this key are final.
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
