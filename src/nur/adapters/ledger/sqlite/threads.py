"""How a SQLite file is shared: one writer thread that commits in groups, and a few readers.

Statements are synchronous and run on threads, one hop a transaction; an async driver takes one hop a statement.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import create_engine, event
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from nur.domain.errors import Conflict, NurError, StoreDamaged, StoreDown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sqlalchemy import Connection, Engine

T = TypeVar("T")

#: Writes that share one fsync. More would only lengthen the wait of the first.
GROUP = 64
READERS = 4
_CACHE_KIB = 32 * 1024


def make_engine(path: Path, *, read_only: bool) -> Engine:
    """An engine whose connections are set up as DESIGN's rule 2 asks: WAL, full fsync, foreign keys."""
    # `as_uri` escapes: a folder may have ?, # or % in its name.
    address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    engine = create_engine(
        "sqlite://",
        poolclass=NullPool,
        creator=lambda: sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None, timeout=30),
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        if read_only:
            cursor.execute("PRAGMA query_only = ON")
        else:
            cursor.execute("PRAGMA journal_mode = WAL")
            cursor.execute("PRAGMA synchronous = FULL")
            cursor.execute("PRAGMA secure_delete = ON")
        cursor.close()

    return engine


def _translate(error: SQLAlchemyError) -> NurError:
    """Our error for the engine's; its text may hold SQL and contents, so it stays behind as the cause."""
    if isinstance(error, IntegrityError):
        return Conflict("Another write came first; nothing was written. Try again.")
    if "malformed" in str(error) or "not a database" in str(error):
        return StoreDamaged(
            "The store's file is damaged. Restore a backup, or move the data folder away to start anew."
        )
    return StoreDown("The store could not be read or written. See the server's log.")


class WriterThread:
    """Runs writes one after another; those that wait together are committed together, each in its own savepoint."""

    def __init__(self, engine: Engine) -> None:
        self._connection = engine.connect()
        self._jobs: queue.SimpleQueue[tuple[Callable[[Connection], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="nur-writer", daemon=True)
        self._thread.start()

    async def run(self, body: Callable[[Connection], T]) -> T:
        """Run a transaction body; returns when its group is committed and fsynced."""
        future: Future[T] = Future()
        self._jobs.put((body, future))
        # Shielded: a caller that goes away does not take back a write that may be committed already.
        return await asyncio.shield(asyncio.wrap_future(future))

    def close(self) -> None:
        """Finish what is queued, then fold the log into the file."""
        self._jobs.put(None)
        self._thread.join()
        self._connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            group = [job]
            last = False
            while len(group) < GROUP and not self._jobs.empty():
                if (more := self._jobs.get()) is None:
                    last = True
                    break
                group.append(more)
            self._commit(group)
            if last:
                return

    def _commit(self, group: list[tuple[Callable[[Connection], Any], Future[Any]]]) -> None:
        try:
            self._connection.exec_driver_sql("BEGIN IMMEDIATE")
            answers = [self._attempt(body, future) for body, future in group]
            # By hand: SQLAlchemy forgets a transaction whose commit failed and would not roll it back.
            self._connection.exec_driver_sql("COMMIT")
            self._connection.commit()
        except SQLAlchemyError as error:
            with contextlib.suppress(SQLAlchemyError):  # this thread must not die: every later write would wait forever
                self._connection.rollback()
            for _, future in group:
                _fail(future, _translate(error), error)
            return
        # Refusals too are told only now: who hears that another write came first shall find it when looking again.
        for answer in answers:
            answer()

    def _attempt(self, body: Callable[[Connection], Any], future: Future[Any]) -> Callable[[], None]:
        """Run one body in a savepoint, so that its failure takes back nothing of the others; gives back the answer."""
        self._connection.exec_driver_sql("SAVEPOINT one")
        try:
            answer = partial(future.set_result, body(self._connection))
        except Exception as error:  # noqa: BLE001  # handed to the caller, whatever it is
            self._connection.exec_driver_sql("ROLLBACK TO one")
            answer = partial(_fail, future, _translate(error) if isinstance(error, SQLAlchemyError) else error, error)
        self._connection.exec_driver_sql("RELEASE one")
        return answer


def _fail(future: Future[Any], error: Exception, cause: Exception) -> None:
    if error is not cause:
        error.__cause__ = cause
    future.set_exception(error)


class ReaderThreads:
    """A few threads with a read-only connection each; WAL lets them read while the writer writes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pool = ThreadPoolExecutor(READERS, thread_name_prefix="nur-reader")
        self._local = threading.local()
        self._connections: list[Connection] = []

    async def run(self, body: Callable[[Connection], T]) -> T:
        """Run a body over one consistent snapshot."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._read, body)

    def close(self) -> None:
        """Close every connection."""
        self._pool.shutdown()
        for connection in self._connections:
            connection.close()

    def _read(self, body: Callable[[Connection], T]) -> T:
        try:
            connection = self._connection()
            connection.exec_driver_sql("BEGIN")
            try:
                return body(connection)
            finally:
                connection.rollback()
        except SQLAlchemyError as error:
            raise _translate(error) from error

    def _connection(self) -> Connection:
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._engine.connect()
            self._connections.append(connection)
        return connection
