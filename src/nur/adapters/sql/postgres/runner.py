"""PostgresRunner: transactions on threads over a pool of connections.

Reads see one snapshot. Writes see what is committed when each statement starts; one that meets another write is run
again, so that what it looked up and what it writes belong together.
"""

from __future__ import annotations

import asyncio
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from nur.adapters.sql.postgres.failures import collided, lost_connection, translate
from nur.domain.errors import BadRequest, Conflict, StoreDown

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

    from nur.adapters.sql.condition import StoreCondition

P = ParamSpec("P")
T = TypeVar("T")

#: A transaction that collides with others is run so often; each run lets at least one of them through.
ATTEMPTS = 10
#: One that finds its connection broken, or a row that was not there when it looked, is run so often.
SECOND_LOOKS = 2
#: A collided transaction waits up to this long, doubled each time.
PAUSE_SECONDS = 0.005

_SNAPSHOT = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}


class PostgresRunner:
    """Runs the stores' queries, as many at once as there are connections."""

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
        # Shielded: a caller that goes away does not take back a write that may be committed already.
        return await asyncio.shield(running)

    def _again(
        self,
        attempt: Callable[[Engine, Callable[[Connection], T]], T],
        engine: Engine,
        body: Callable[[Connection], T],
    ) -> T:
        """Run a transaction until it succeeds, or running it again is no use."""
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

    def _read(self, engine: Engine, body: Callable[[Connection], T]) -> T:
        with engine.connect().execution_options(**_SNAPSHOT) as connection:
            answer = body(connection)
        self.condition.read()
        return answer

    def _write(self, engine: Engine, body: Callable[[Connection], T]) -> T:
        with engine.connect() as connection:
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
        """The connection broke while the write was committed: it may or may not be stored."""
        ours = StoreDown("PostgreSQL went away while it stored this. See whether it is there before you try again.")
        self.condition.failed(ours)
        return ours


def _most_attempts(error: SQLAlchemyError) -> int:
    if collided(error):
        return ATTEMPTS
    return SECOND_LOOKS if isinstance(error, IntegrityError) or lost_connection(error) else 1
