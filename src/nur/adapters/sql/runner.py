"""Runner: how the stores run their queries. Each database has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from nur.adapters.sql.condition import StoreCondition

P = ParamSpec("P")
T = TypeVar("T")


class Runner(Protocol):
    """Runs a function of a connection as one transaction, off the event loop."""

    @property
    def condition(self) -> StoreCondition:
        """What its reads and writes have shown of the database."""
        ...

    async def read(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query over one consistent snapshot. Raises StoreDown, StoreDamaged."""
        ...

    async def write(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a write; returns when it is committed and synced. Raises Conflict, StoreDown, StoreDamaged."""
        ...
