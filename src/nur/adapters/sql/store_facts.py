"""SqlStoreFacts: the store's own facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from nur.adapters.sql.tables import store_facts

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from nur.adapters.sql.runner import Runner


@dataclass(frozen=True, slots=True)
class SqlStoreFacts:
    """Named values in one table."""

    run: Runner

    async def get(self, name: str) -> str | None:
        """A fact, None if it is not set."""
        return await self.run.read(get_fact, name)

    async def set_if_absent(self, name: str, value: str) -> str:
        """Set a fact unless it is set, and return its value."""
        existing = await self.get(name)  # read first, without a write, so that a store on a full disk can be opened
        return await self.run.write(_set_if_absent, name, value) if existing is None else existing

    async def set(self, name: str, value: str) -> None:
        """Set a fact."""
        await self.run.write(set_fact, name, value)


def get_fact(connection: Connection, name: str) -> str | None:
    """A fact, None if it is not set."""
    return connection.execute(select(store_facts.c.value).where(store_facts.c.name == name)).scalar()


def set_fact(connection: Connection, name: str, value: str) -> None:
    """Set a fact."""
    changed = update(store_facts).where(store_facts.c.name == name).values(value=value)
    if connection.execute(changed).rowcount == 0:
        connection.execute(insert(store_facts).values(name=name, value=value))


def _set_if_absent(connection: Connection, name: str, value: str) -> str:
    existing = get_fact(connection, name)
    if existing is None:
        connection.execute(insert(store_facts).values(name=name, value=value))
        return value
    return existing
