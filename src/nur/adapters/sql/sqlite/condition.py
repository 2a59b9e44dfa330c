"""What is wrong with the store, as far as its own reads and writes have shown."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from nur.adapters.sql.sqlite.failures import cause_of
from nur.domain.errors import NurError, StoreDamaged, StoreFull, StoreMissing, StoreUnusable
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from nur.adapters.sql.sqlite.files import StoreFiles

log = EventLog("Store")

#: With less than this, one write succeeds and the next does not: the disk still counts as full.
ENOUGH_BYTES = 4 * 1024 * 1024


class StoreCondition:
    """Keeps the last failure until a write succeeds. Damage stays until the store is opened again."""

    def __init__(self, files: StoreFiles) -> None:
        self.files = files
        self._problem: NurError | None = None

    @property
    def problem(self) -> NurError | None:
        """Why the store could not be used; None: nothing is known to be wrong."""
        return self._problem

    def check_files(self) -> None:
        """Raises StoreMissing when the files are not where they were, and keeps that in mind."""
        try:
            self.files.check()
        except StoreMissing as error:
            self.failed(error)
            raise

    def failed(self, error: NurError) -> None:
        """A read or write failed because of the files. Logs each kind of failure once."""
        if isinstance(self._problem, StoreDamaged):
            return
        if type(error) is not type(self._problem):
            write = log.critical if isinstance(error, StoreUnusable) else log.error
            write("store_failed", error=error.code, cause=cause_of(error.__cause__ or error), message=str(error))
        self._problem = error

    def wrote(self) -> None:
        """A write was committed."""
        if self._problem is None or isinstance(self._problem, StoreDamaged):
            return
        if isinstance(self._problem, StoreFull) and self._free_bytes() < ENOUGH_BYTES:
            return
        self._problem = None
        log.info("store_recovered")

    def _free_bytes(self) -> int:
        return shutil.disk_usage(self.files.database.parent).free
