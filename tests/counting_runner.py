"""A SQLite runner that counts transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, NamedTuple, ParamSpec, TypeVar

from nur.adapters.sql.sqlite.threads import SqliteRunner

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

P = ParamSpec("P")
T = TypeVar("T")


class Count(NamedTuple):
    """Number of transactions of one call."""

    reads: int
    writes: int


class CountingRunner(SqliteRunner):
    """Counts the transactions that the stores run."""

    def __init__(self) -> None:
        super().__init__()
        self._reads = self._writes = 0

    async def read(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        self._reads += 1
        return await super().read(body, *args, **kwargs)

    async def write(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        self._writes += 1
        return await super().write(body, *args, **kwargs)

    def take(self) -> Count:
        """The counts since the last call of this method."""
        count = Count(self._reads, self._writes)
        self._reads = self._writes = 0
        return count
