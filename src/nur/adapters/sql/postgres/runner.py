"""PostgresRunner: runs transactions on threads over a pool of connections.

A read sees one snapshot. In a write each statement sees what is committed when it starts; a write that collides with
another is retried as a whole, so that what it writes fits what it read.
"""

from __future__ import annotations

import asyncio
import random
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from psycopg import IsolationLevel
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, InterfaceError, OperationalError, SQLAlchemyError

from nur.domain.errors import BadRequest, Conflict, NurError, StoreDamaged, StoreDown, StoreFull

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

    from nur.adapters.sql.runner import StoreCondition


_FULL = "53100"
_DAMAGED = {"XX001", "XX002"}
_STOPPING = {"57P", "080"}  #: stopped, not started yet, or the connection broke
_COLLIDED = {"40001", "40P01"}  #: serialisation failure, deadlock: to be retried

FULL = "The disk of the PostgreSQL server is full; nothing was written. Free some space, then try again."
DAMAGED = "PostgreSQL reports damaged data. Restore a backup of the database."
DOWN = "PostgreSQL does not answer. Nur connects again by itself; try again in a moment."

P = ParamSpec("P")
T = TypeVar("T")

#: Maximum runs of a transaction that collides with others; in each round at least one of them commits.
ATTEMPTS = 10
#: Maximum runs of one whose connection broke, or that met a row which did not exist when it looked.
SECOND_LOOKS = 2
#: A collided transaction waits a random time up to twice this before its first retry; the limit doubles each time.
PAUSE_SECONDS = 0.005


class _Mode(NamedTuple):
    """How the driver begins transactions."""

    isolation: IsolationLevel | None = None  #: None: the server's default, read committed
    read_only: bool | None = None
    autocommit: bool = False  #: each statement is a transaction: saves two of three round trips


_SNAPSHOT = _Mode(IsolationLevel.REPEATABLE_READ, read_only=True)
_STATEMENTS = _Mode(autocommit=True)
_WRITING = _Mode()


def translate(error: SQLAlchemyError) -> NurError:
    """Our error for one of SQLAlchemy's, whose text is not repeated: it may contain SQL and stored texts."""
    state = _state(error)
    if isinstance(error, IntegrityError) or state in _COLLIDED:
        return Conflict("Another write came first; nothing was written. Try again.")
    if isinstance(error, DataError) and "NUL" in str(error.orig):
        return BadRequest("PostgreSQL stores no NUL character; nothing was written. Take it out of the text.")
    if state == _FULL:
        return StoreFull(FULL)
    if state in _DAMAGED:
        return StoreDamaged(DAMAGED)
    return StoreDown(
        DOWN if lost_connection(error) else "The store could not be read or written. See the server's log."
    )


def collided(error: SQLAlchemyError) -> bool:
    """Whether a concurrent transaction caused the failure, so that a retry may succeed."""
    return _state(error) in _COLLIDED


def lost_connection(error: SQLAlchemyError) -> bool:
    """Whether there was no connection, or it broke."""
    if not isinstance(error, DBAPIError):
        return False
    without_answer = isinstance(error, OperationalError | InterfaceError) and not _state(error)
    return error.connection_invalidated or without_answer or _state(error)[:3] in _STOPPING


def cause_of(error: BaseException) -> str:
    """PostgreSQL's error code for the log, or the name of the error's class; never its text."""
    return (isinstance(error, SQLAlchemyError) and _state(error)) or type(getattr(error, "orig", error)).__name__


def reason(error: SQLAlchemyError) -> str:
    """The last line of the driver's message, for the operator. Only for errors before any content is sent."""
    lines = [line.strip() for line in str(getattr(error, "orig", error)).splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else type(error).__name__


def _state(error: SQLAlchemyError) -> str:
    """The five-character SQLSTATE; empty if the error is not from the server."""
    return str(getattr(getattr(error, "orig", None), "sqlstate", None) or "")


class PostgresRunner:
    """Runs the stores' transactions, one per thread at a time."""

    def __init__(self, condition: StoreCondition) -> None:
        self.condition = condition
        self._engine: Engine | None = None
        self._threads: ThreadPoolExecutor | None = None

    def start(self, engine: Engine, threads: int) -> None:
        """Run transactions over this engine from now on."""
        self._engine = engine
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="nur-postgres")

    def stop(self) -> None:
        """Finish what is queued and close every connection."""
        if self._engine is None or self._threads is None:
            return
        self._threads.shutdown()
        self._engine.dispose()
        self._engine = self._threads = None

    async def read(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query over one consistent snapshot."""
        return await self._run(self._read, lambda connection: body(connection, *args, **kwargs))

    async def read_one(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query whose statements need no common snapshot."""
        return await self._run(
            partial(self._read, mode=_STATEMENTS), lambda connection: body(connection, *args, **kwargs)
        )

    async def write(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a write; returns when it is committed and synced."""
        return await self._run(self._write, lambda connection: body(connection, *args, **kwargs))

    async def _run(
        self,
        attempt: Callable[[Engine, Callable[[Connection], T]], T],
        body: Callable[[Connection], T],
    ) -> T:
        if self._engine is None or self._threads is None:
            raise StoreDown("The store is closed.")
        running = asyncio.get_running_loop().run_in_executor(self._threads, self._again, attempt, self._engine, body)
        # Shielded: a caller's cancellation cannot undo a write that may already be committed.
        return await asyncio.shield(running)

    def _again(
        self,
        attempt: Callable[[Engine, Callable[[Connection], T]], T],
        engine: Engine,
        body: Callable[[Connection], T],
    ) -> T:
        """Run a transaction until it succeeds or may not be retried any more. Raises our error."""
        for attempts in range(1, ATTEMPTS + 1):
            try:
                return attempt(engine, body)
            except SQLAlchemyError as error:
                if attempts >= _most_attempts(error):
                    ours = translate(error)
                    if not isinstance(ours, Conflict | BadRequest):
                        self.condition.failed(ours)
                    raise ours from error
            time.sleep(random.uniform(0, PAUSE_SECONDS * 2**attempts))  # noqa: S311  # no secret
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _read(self, engine: Engine, body: Callable[[Connection], T], mode: _Mode = _SNAPSHOT) -> T:
        with engine.connect() as connection:
            _set(connection, mode)
            answer = body(connection)
            # Not rolled back: the driver would drop its prepared statements, and PostgreSQL plan each one again.
            connection.commit()
        self.condition.read()
        return answer

    def _write(self, engine: Engine, body: Callable[[Connection], T]) -> T:
        with engine.connect() as connection:
            _set(connection, _WRITING)
            answer = body(connection)
            try:
                connection.commit()
            except SQLAlchemyError as error:
                if lost_connection(error):
                    raise self._in_doubt() from error
                raise
        self.condition.wrote()
        return answer

    def _in_doubt(self) -> StoreDown:
        """The error for a connection that broke during a commit: the write may or may not be stored."""
        ours = StoreDown("PostgreSQL went away while it stored this. See whether it is there before you try again.")
        self.condition.failed(ours)
        return ours


def _set(connection: Connection, mode: _Mode) -> None:
    """Prepare a connection for its next transaction. Not by SQLAlchemy, which takes ten times as long."""
    driver: Any = connection.connection.driver_connection
    driver.isolation_level, driver.read_only, driver.autocommit = mode


def _most_attempts(error: SQLAlchemyError) -> int:
    if collided(error):
        return ATTEMPTS
    return SECOND_LOOKS if isinstance(error, IntegrityError) or lost_connection(error) else 1
