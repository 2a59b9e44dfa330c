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
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from nur.adapters.sql.sqlite.failures import cause_of, ends_transaction, translate
from nur.domain.errors import Conflict, NurError, StoreDamaged, StoreMissing
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sqlalchemy import Connection, Engine

    from nur.adapters.sql.sqlite.files import FilesCondition

log = EventLog("Store")

P = ParamSpec("P")
T = TypeVar("T")

#: Most writes that share one fsync. More would only make the first wait longer.
GROUP = 64
READERS = 4
_CACHE_KIB = 32 * 1024


def make_engine(path: Path, *, read_only: bool) -> Engine:
    """An engine whose connections use WAL, full fsync and foreign keys."""
    # `as_uri` escapes ?, # and % in the folder's name.
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


class WriterThread:
    """Runs writes one after another; those that wait together are committed together, each in its own savepoint.

    `first` is done in the first transaction that can be committed, before anything else.
    """

    def __init__(
        self, engine: Engine, condition: FilesCondition, first: Callable[[Connection], None] = lambda _: None
    ) -> None:
        self._connection = engine.connect()
        self._condition = condition
        self._first: Callable[[Connection], None] | None = first
        self._jobs: queue.SimpleQueue[tuple[Callable[[Connection], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="nur-writer", daemon=True)
        self._thread.start()

    async def run(self, body: Callable[[Connection], T]) -> T:
        """Run a transaction body; returns when its group is committed and fsynced."""
        future: Future[T] = Future()
        self._jobs.put((body, future))
        # Shielded: a caller that is cancelled cannot cancel a write that may already be committed.
        return await asyncio.shield(asyncio.wrap_future(future))

    def close(self) -> None:
        """Finish what is queued, then fold the log into the file.

        Where that fails (the disk is full) the log stays and the next start reads it. It stays as well when the file is
        no longer in its place: it may hold the only copy of the last writes.
        """
        self._jobs.put(None)
        self._thread.join()
        try:
            self._condition.files.check()
            self._connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        except (SQLAlchemyError, StoreMissing) as error:
            log.warning("log_kept", cause=cause_of(error))
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
        changes = self._changes()
        try:
            self._condition.files.check()
            self._connection.exec_driver_sql("BEGIN IMMEDIATE")
            if self._first is not None:
                self._first(self._connection)
            answers = [self._attempt(body, future) for body, future in group]
            # Not by SQLAlchemy, which would not roll back a transaction whose commit failed.
            self._connection.exec_driver_sql("COMMIT")
            self._connection.commit()
            # Again: a write into a file that was moved away meanwhile is lost, and must not be acknowledged.
            self._condition.files.check()
        except (SQLAlchemyError, StoreMissing) as error:
            self._refuse(group, error)
            return
        self._first = None
        if self._condition.problem is not None and self._changes() > changes:
            self._condition.wrote()
        # Report conflicts after the commit too, so that a caller who retries can see the write that won.
        for answer in answers:
            answer()

    def _changes(self) -> int:
        """Rows written by this connection so far. A transaction without any does not prove that writing works."""
        return int(self._connection.connection.driver_connection.total_changes)  # type: ignore[union-attr]

    def _refuse(
        self, group: list[tuple[Callable[[Connection], Any], Future[Any]]], error: SQLAlchemyError | StoreMissing
    ) -> None:
        with contextlib.suppress(SQLAlchemyError):  # if this thread died, every later write would wait forever
            self._connection.rollback()
        for _, future in group:
            future.set_exception(_ours(error))
        reason = _ours(error)
        if not isinstance(reason, Conflict):
            self._condition.failed(reason)

    def _attempt(self, body: Callable[[Connection], Any], future: Future[Any]) -> Callable[[], None]:
        """Run one body in a savepoint, so that its failure undoes only itself; returns how to answer its caller."""
        self._connection.exec_driver_sql("SAVEPOINT one")
        try:
            answer = partial(future.set_result, body(self._connection))
        except Exception as error:  # handed to the caller, whatever it is
            if ends_transaction(error):
                raise
            self._connection.exec_driver_sql("ROLLBACK TO one")
            answer = partial(future.set_exception, _ours(error) if isinstance(error, SQLAlchemyError) else error)
        self._connection.exec_driver_sql("RELEASE one")
        return answer


def _ours(error: SQLAlchemyError | StoreMissing) -> NurError:
    """Translate to our own error, a new one per caller, with the engine's error as cause."""
    if isinstance(error, StoreMissing):
        return StoreMissing(str(error))
    ours = translate(error)
    ours.__cause__ = error
    return ours


class ReaderThreads:
    """A few threads with a read-only connection each; WAL lets them read while the writer writes.

    All are connected at once: a later one would read whatever file has the store's name at that time.
    """

    def __init__(self, engine: Engine, condition: FilesCondition) -> None:
        self._condition = condition
        self._pool = ThreadPoolExecutor(READERS, thread_name_prefix="nur-reader")
        self._connections: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        for _ in range(READERS):
            self._connections.put(engine.connect())

    async def run(self, body: Callable[[Connection], T]) -> T:
        """Run a body over one consistent snapshot."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._read, body)

    def close(self) -> None:
        """Close every connection."""
        self._pool.shutdown()
        while not self._connections.empty():
            self._connections.get().close()

    def _read(self, body: Callable[[Connection], T]) -> T:
        connection = self._connections.get()
        try:
            connection.exec_driver_sql("BEGIN")
            try:
                return body(connection)
            finally:
                connection.rollback()
        except SQLAlchemyError as error:
            ours = _ours(error)
            if isinstance(ours, StoreDamaged):
                self._condition.failed(ours)
            raise ours from error
        finally:
            self._connections.put(connection)


class SqliteRunner:
    """Runs the stores' queries on the threads of one SQLite file."""

    condition: FilesCondition
    _writer: WriterThread
    _readers: ReaderThreads

    def __init__(self) -> None:
        self._engines: list[Engine] = []  #: the writing one, then the reading one; empty while closed

    def start(
        self, writing: Engine, reading: Engine, condition: FilesCondition, *, first: Callable[[Connection], None]
    ) -> None:
        """Start the threads; `first` runs with the first write."""
        self._engines = [writing, reading]
        self.condition = condition
        self._writer = WriterThread(writing, condition, first=first)
        self._readers = ReaderThreads(reading, condition)

    def stop(self) -> None:
        """Finish what is queued and close the file."""
        if not self._engines:
            return
        self._readers.close()
        self._writer.close()
        for engine in self._engines:
            engine.dispose()
        self._engines = []

    async def read(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query over one consistent snapshot."""
        return await self._readers.run(lambda connection: body(connection, *args, **kwargs))

    async def read_one(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query; a snapshot costs nothing here."""
        return await self.read(body, *args, **kwargs)

    async def write(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a write; returns when it is committed and synced."""
        return await self._writer.run(lambda connection: body(connection, *args, **kwargs))

    def empty_log(self) -> None:
        """Fold the write-ahead log into the file and truncate it. Raises StoreFull, StoreDown."""
        try:
            with self._engines[0].connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        except SQLAlchemyError as error:
            raise translate(error) from error
