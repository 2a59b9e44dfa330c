"""The schema's history. Alembic is imported only when there is something to do: it costs a third of the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from nur.domain.errors import StoreForeign, StoreNewer

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

#: The newest revision under `versions/`; a test compares them.
HEAD = "0011"

#: Begins a transaction that no other process migrates beside. PostgreSQL's lock is any number that is ours.
_ALONE = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "SELECT pg_advisory_xact_lock(7809622)"}


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


def check(engine: Engine) -> bool:
    """Whether the store is at HEAD already; changes nothing. Raises StoreNewer, StoreForeign."""
    with engine.connect() as connection:
        existing = held_revision(connection)
    if existing is not None and existing > HEAD:
        raise StoreNewer(
            f"The store has schema {existing}, this program knows {HEAD}. Update nur-memory; nothing was changed."
        )
    return existing == HEAD


def migrate(engine: Engine) -> bool:
    """Bring a store to HEAD. Returns whether there was anything to do. Raises StoreNewer, StoreForeign."""
    if check(engine):
        return False
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "nur.adapters.sql:migrations")
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        connection.exec_driver_sql(_ALONE[engine.dialect.name])
        command.upgrade(config, "head")
        connection.commit()
    return True
