"""SqliteStores: every store over one file, `nur.db` in a data folder that this process owns."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from sqlalchemy.exc import SQLAlchemyError

from nur.adapters.sql import migrations, outbox
from nur.adapters.sql.folder import DataFolder
from nur.adapters.sql.idempotency import expire_reservations
from nur.adapters.sql.sqlite.failures import translate
from nur.adapters.sql.sqlite.files import STORE_ID, FilesCondition, StoreFiles
from nur.adapters.sql.sqlite.integrity import BackgroundCheck, refuse_damaged
from nur.adapters.sql.sqlite.lexical_index import Fts5LexicalIndex
from nur.adapters.sql.sqlite.threads import SqliteRunner, make_engine
from nur.adapters.sql.store_facts import get_fact
from nur.adapters.sql.stores import SqlStores
from nur.domain.errors import NurError, StoreDamaged, StoreFull
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from sqlalchemy import Connection

log = EventLog("Store")


class SqliteStores(SqlStores):
    """The stores of one SQLite file. A second process on the same folder is refused."""

    def __init__(self, folder: Path, run: SqliteRunner | None = None) -> None:
        self._sqlite = run or SqliteRunner()
        super().__init__(self._sqlite, Fts5LexicalIndex())
        self._folder = DataFolder(folder)
        self._check: BackgroundCheck | None = None

    async def open(self, now: datetime) -> None:
        """Take the folder's lock, bring the schema up to date, start the threads."""
        self._folder.acquire()
        try:
            files = StoreFiles(self._folder.path)
            files.refuse_lost()
            self._start(files, now)
        except BaseException:
            self._folder.release()
            raise
        try:
            await self._mark(files)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Finish queued writes, close the file and release the folder."""
        if self._check is not None:
            self._check.close()
        self._sqlite.stop()
        self._folder.release()

    async def ping(self) -> None:
        """Read something; and write something, if the last write failed. Raises why the store cannot be used."""
        self._sqlite.condition.check_files()
        await super().ping()

    async def scrub(self) -> None:
        """Merge the lexical rows and empty the log: deleted rows are overwritten already (`secure_delete`)."""
        await super().scrub()
        await asyncio.to_thread(self._sqlite.empty_log)

    def _start(self, files: StoreFiles, now: datetime) -> None:
        path, is_new = files.database, not files.exists
        writing, reading = make_engine(path, read_only=False), make_engine(path, read_only=True)
        try:
            if not is_new:
                # A writing connection sets the journal mode, and that would change a file that is not ours. What a
                # reading one cannot open (a log that needs recovery) is the writing one's to judge.
                with contextlib.suppress(SQLAlchemyError):
                    migrations.check(reading)
                if not files.closed_cleanly:
                    refuse_damaged(path)
                with writing.connect() as connection:
                    files.refuse_foreign(_stored_id(connection))
            migrations.migrate(writing)
        except SQLAlchemyError as error:
            raise _unreadable(path, error) from error
        path.chmod(0o600)
        condition = FilesCondition(files)
        self._sqlite.start(writing, reading, condition, first=partial(_take_over, now=now))
        self._check = BackgroundCheck(condition)

    async def _mark(self, files: StoreFiles) -> None:
        """Give the store an id and a marker that names it. A full disk keeps no store from being opened."""
        try:
            store_id = await self.facts.set_if_absent(STORE_ID, uuid4().hex)
            files.remember()
            if files.marked_id() != store_id:
                await asyncio.to_thread(self._sqlite.empty_log)  # the file alone, without its log, must have its id
                files.mark(store_id)
        except (StoreFull, OSError) as error:
            files.remember()
            log.warning("marker_not_written", error=type(error).__name__)


def _take_over(connection: Connection, now: datetime) -> None:
    """The previous owner of the store is dead: its calls and leases are void."""
    expire_reservations(connection, now)
    outbox.release_all(connection)


def _unreadable(path: Path, error: SQLAlchemyError) -> NurError:
    ours = translate(error)
    if isinstance(ours, StoreFull):
        return StoreFull("The disk is full, so the store cannot be opened. Free some space, then start again.")
    return StoreDamaged(
        f"{path} cannot be read. Restore a backup, or move the folder away to start with a new store; "
        "nothing was deleted."
    )


def _stored_id(connection: Connection) -> str | None:
    """The id of a store that may be empty, or another's."""
    return get_fact(connection, STORE_ID) if migrations.held_revision(connection) else None
