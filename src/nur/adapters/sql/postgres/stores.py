"""PostgresStores: all stores in one PostgreSQL database, which any number of processes may share."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sqlalchemy import event, text
from sqlalchemy.exc import SQLAlchemyError

from nur.adapters.sql import migrations
from nur.adapters.sql.folder import DataFolder
from nur.adapters.sql.idempotency import SqlIdempotencyStore
from nur.adapters.sql.migrations import OURS, History
from nur.adapters.sql.postgres.engine import make_engine
from nur.adapters.sql.postgres.lexical_index import PostgresLexicalIndex
from nur.adapters.sql.postgres.presence import Presence
from nur.adapters.sql.postgres.runner import PostgresRunner, cause_of, reason
from nur.adapters.sql.runner import StoreCondition
from nur.adapters.sql.stores import SqlStores
from nur.domain.errors import BadConfiguration

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from sqlalchemy import Connection, Engine

#: Connections of one process, and so its concurrent transactions.
POOL_SIZE = 8

_UNSYNCED = "SELECT name FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit') AND setting = 'off'"


class PostgresStores(SqlStores):
    """The stores of one PostgreSQL database."""

    is_shared = True

    def __init__(
        self,
        address: str,
        folder: Path,
        *,
        pool_size: int = POOL_SIZE,
        allow_unsynced: bool = False,
        history: History = OURS,
    ) -> None:
        self._runner = PostgresRunner(StoreCondition(cause_of))
        super().__init__(self._runner, PostgresLexicalIndex())
        self._presence = Presence(head=history.head)
        self.idempotency = SqlIdempotencyStore(self._runner, self._presence)
        self._address = address
        self._history = history
        self._folder = DataFolder(folder)
        self._pool_size = pool_size
        self._allow_unsynced = allow_unsynced

    async def open(self, now: datetime) -> None:
        """Migrate the schema and connect. Leases and reservations of other processes are left alone."""
        del now
        self._folder.acquire()  # for the files outside the database: each server needs its own folder
        try:
            self._runner.start(await asyncio.to_thread(self._connect), self._pool_size)
        except BaseException:
            self._folder.release()
            raise

    async def close(self) -> None:
        """Finish what is queued and disconnect."""
        await asyncio.to_thread(self._runner.stop)
        self._folder.release()

    def finish_upgrade(self) -> bool:
        """Apply the migrations that servers leave out. Returns whether there were any. Raises DataFolderInUse."""
        engine = make_engine(self._address, 2)
        try:
            return self._prepare(engine, finish=True)
        finally:
            engine.dispose()

    def _connect(self) -> Engine:
        engine = make_engine(self._address, self._pool_size)
        event.listen(engine, "connect", self._presence.show)
        try:
            self._prepare(engine)
            engine.connect().close()  # stays in the pool: from now on other processes see this one
        except BaseException:
            engine.dispose()
            raise
        return engine

    def _prepare(self, engine: Engine, *, finish: bool = False) -> bool:
        try:
            with engine.connect() as connection:
                self._refuse_unsynced(connection)
            changed = migrations.migrate(engine, self._history, finish=finish)
            engine.dispose()  # connections made before the extension existed cannot read vectors
        except SQLAlchemyError as error:
            raise BadConfiguration(
                f"DATABASE_URL: the database cannot be opened: {reason(error)}. Correct the address or start "
                "PostgreSQL; the role must be able to create tables, and the extension vector (pgvector) must be there."
            ) from error
        return changed

    def _refuse_unsynced(self, connection: Connection) -> None:
        """Raises BadConfiguration if a crash could lose acknowledged writes."""
        found = sorted(connection.execute(text(_UNSYNCED)).scalars())
        if found and not self._allow_unsynced:
            raise BadConfiguration(
                f"DATABASE_URL: PostgreSQL runs with {' and '.join(found)} off: a crash would lose what was stored. "
                "Turn it on, or set DATABASE_ALLOW_UNSYNCED=1 for data that may be lost."
            )
