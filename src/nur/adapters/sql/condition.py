"""What is wrong with the store, as far as its own reads and writes have shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.errors import NurError, StoreDamaged, StoreFull, StoreUnusable
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from collections.abc import Callable

log = EventLog("Store")


class StoreCondition:
    """Keeps the last failure until the store works again. Damage stays until the store is opened again."""

    def __init__(self, cause_of: Callable[[BaseException], str]) -> None:
        self._cause_of = cause_of
        self.problem: NurError | None = None  #: why the store could not be used; None: nothing is known to be wrong

    def failed(self, error: NurError) -> None:
        """A read or write failed because of the store. Logs each kind of failure once."""
        if isinstance(self.problem, StoreDamaged):
            return
        if type(error) is not type(self.problem):
            write = log.critical if isinstance(error, StoreUnusable) else log.error
            cause = self._cause_of(error.__cause__ or error)
            write("store_failed", error=error.code, cause=cause, message=str(error))
        self.problem = error

    def read(self) -> None:
        """A read succeeded. On a full disk reads do, and writes do not."""
        if self.problem is not None and not isinstance(self.problem, StoreFull):
            self.wrote()

    def wrote(self) -> None:
        """A write was committed."""
        if self.problem is None or isinstance(self.problem, StoreDamaged):
            return
        self.problem = None
        log.info("store_recovered")
