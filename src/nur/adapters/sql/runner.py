"""Runner: how the stores run their queries; StoreCondition: whether the database works, as its queries show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from nur.domain.errors import NurError, StoreDamaged, StoreFull, StoreUnusable
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

P = ParamSpec("P")
T = TypeVar("T")

log = EventLog("Store")


class StoreCondition:
    """Holds the last failure until the store works again; damage, until the store is opened again."""

    def __init__(self, cause_of: Callable[[BaseException], str]) -> None:
        self._cause_of = cause_of
        self.problem: NurError | None = None  #: why the store could not be used; None: nothing is known to be wrong

    def failed(self, error: NurError) -> None:
        """Record a read or write that failed because of the store. Logs each kind of failure once."""
        if isinstance(self.problem, StoreDamaged):
            return
        if type(error) is not type(self.problem):
            write = log.critical if isinstance(error, StoreUnusable) else log.error
            cause = self._cause_of(error.__cause__ or error)
            write("store_failed", error=error.code, cause=cause, message=str(error))
        self.problem = error

    def read(self) -> None:
        """Record a read that succeeded. It does not clear a full disk, where reads work and writes fail."""
        if self.problem is not None and not isinstance(self.problem, StoreFull):
            self.wrote()

    def wrote(self) -> None:
        """Record a committed write."""
        if self.problem is None or isinstance(self.problem, StoreDamaged):
            return
        self.problem = None
        log.info("store_recovered")


class Runner(Protocol):
    """Runs a function of a connection as one transaction, off the event loop. Each database has its own."""

    @property
    def condition(self) -> StoreCondition:
        """Whether the database works, as its reads and writes have shown."""
        ...

    async def read(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query over one consistent snapshot. Raises StoreDown, StoreDamaged."""
        ...

    async def read_one(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query whose statements need no common snapshot, mostly a single one. Raises StoreDown, StoreDamaged."""
        ...

    async def write(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a write; returns when it is committed and synced. Raises Conflict, StoreDown, StoreDamaged."""
        ...
