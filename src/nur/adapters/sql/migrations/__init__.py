"""Schema migrations, in steps that let servers of two versions share a database.

An expand step only adds. A contract step removes what older programs still use; its module names the `oldest_program`,
by head revision, that works afterwards. Every program applies the steps that it needs. It does not need contract steps
at the end: on PostgreSQL they are left to `nur upgrade`. Alembic is imported only when there is something to apply: the
import takes a third of the start-up time.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from nur.adapters.sql.store_facts import get_fact, set_fact
from nur.domain.errors import DataFolderInUse, StoreForeign, StoreNewer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from alembic.script import Script, ScriptDirectory
    from sqlalchemy import Connection, Engine

#: The newest revision under `versions/`; a test compares them.
HEAD = "0012"
#: The last expand step: this program works on any schema from there on.
NEEDED = "0012"
#: Name of the fact with the oldest head that works on the store.
OLDEST_PROGRAM = "oldest_program"
#: First half of the advisory lock's key that all connections of a program share; the second half is its head.
PROGRAMS = 7809626

#: Begins a transaction that excludes other migrations. PostgreSQL's lock is an arbitrary number.
_ALONE = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "SELECT pg_advisory_xact_lock(7809622)"}
#: While an ALTER TABLE waits for its lock, all reads and writes of the table wait too: rather fail to start.
_BRIEFLY = {"sqlite": "SELECT 1", "postgresql": "SET LOCAL lock_timeout = '10s'"}
#: Waits for a running migration, which may remove what this program needs.
_AFTER_OTHERS = {"sqlite": "SELECT 1", "postgresql": "SELECT pg_advisory_xact_lock_shared(7809622)"}
_OLDER_PROGRAMS = text(
    "SELECT count(DISTINCT objid) FROM pg_locks WHERE locktype = 'advisory' AND classid = :programs"
    " AND objsubid = 2 AND objid::bigint < :oldest"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


@dataclass(frozen=True, slots=True)
class History:
    """The schema revisions that a program knows."""

    head: str = HEAD
    needed: str = NEEDED
    more: Path | None = None  #: a folder with additional revisions


OURS = History()


def held_revision(connection: Connection) -> str | None:
    """The schema revision of a store; None for an empty database. Raises StoreForeign for another program's."""
    tables = inspect(connection).get_table_names()
    if "alembic_version" in tables and "store_facts" in tables:
        existing: str = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        return existing
    if tables:
        raise StoreForeign(
            "The database holds tables that are not Nur's; nothing was changed. "
            "Set NUR_DATA_DIR to an empty folder, or DATABASE_URL to an empty database or schema."
        )
    return None


def check(engine: Engine, history: History = OURS) -> bool:
    """Whether the program can work on the store as it is; changes nothing. Raises StoreNewer, StoreForeign."""
    with engine.connect() as connection:
        connection.exec_driver_sql(_AFTER_OTHERS[engine.dialect.name])
        existing = held_revision(connection)
        if existing is None:
            return False
        # A SQLite file belongs to one process, so no other version shares it.
        shared = engine.dialect.name != "sqlite"
        oldest = (get_fact(connection, OLDEST_PROGRAM) if shared else None) or existing
    if oldest > history.head:
        raise StoreNewer(
            f"The store has schema {existing}, this program knows {history.head}. Update nur-memory; "
            "nothing was changed."
        )
    return existing >= (history.needed if shared else history.head)


def migrate(engine: Engine, history: History = OURS, *, finish: bool = False) -> bool:
    """Apply the steps that the program needs, or all of them with `finish`. Returns whether there were any.

    On SQLite, which has one process, all are applied. Raises StoreNewer, StoreForeign, and DataFolderInUse if a step
    would remove what a connected program still uses.
    """
    if check(engine, history) and not finish:
        return False
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", "nur.adapters.sql:migrations")
    config.set_main_option("path_separator", "os")
    folders = [str(Path(__file__).parent / "versions"), *([str(history.more)] if history.more else [])]
    config.set_main_option("version_locations", os.pathsep.join(folders))
    scripts = ScriptDirectory.from_config(config)
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        connection.exec_driver_sql(_ALONE[engine.dialect.name])
        connection.exec_driver_sql(_BRIEFLY[engine.dialect.name])
        existing = held_revision(connection)
        steps = _steps(scripts, existing, history.head) if (existing or "") < history.head else []
        if not finish and engine.dialect.name != "sqlite":
            steps = _needed(steps)
        if steps:
            if existing is not None:
                _refuse_older(connection, _oldest_program(steps))
            command.upgrade(config, steps[-1].revision)
            if engine.dialect.name != "sqlite":
                set_fact(connection, OLDEST_PROGRAM, _oldest_program(_steps(scripts, None, steps[-1].revision)))
        connection.commit()
    return bool(steps)


def _steps(scripts: ScriptDirectory, after: str | None, upto: str) -> list[Script]:
    """The steps after a revision, oldest first; None: from the beginning."""
    return list(scripts.iterate_revisions(upto, after or "base"))[::-1]


def _needed(steps: list[Script]) -> list[Script]:
    """The steps without the contract steps at the end."""
    while steps and hasattr(steps[-1].module, OLDEST_PROGRAM):
        steps = steps[:-1]
    return steps


def _oldest_program(steps: Sequence[Script]) -> str:
    return max((getattr(step.module, OLDEST_PROGRAM, "") for step in steps), default="")


def _refuse_older(connection: Connection, oldest: str) -> None:
    """Raises DataFolderInUse if a program older than `oldest` is connected."""
    if connection.dialect.name == "sqlite" or not oldest:
        return
    if connection.execute(_OLDER_PROGRAMS, {"programs": PROGRAMS, "oldest": int(oldest)}).scalar_one():
        raise DataFolderInUse(
            "Servers or workers of an older version have the database open, and would fail after this step. "
            "Stop or update them first; nothing was changed."
        )
