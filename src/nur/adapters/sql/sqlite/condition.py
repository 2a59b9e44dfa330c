"""What is wrong with the store's files, as far as its own reads and writes have shown."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from nur.adapters.sql.condition import StoreCondition
from nur.adapters.sql.sqlite.failures import cause_of
from nur.domain.errors import StoreFull, StoreMissing

if TYPE_CHECKING:
    from nur.adapters.sql.sqlite.files import StoreFiles

#: With less than this, one write succeeds and the next does not: the disk still counts as full.
ENOUGH_BYTES = 4 * 1024 * 1024


class FilesCondition(StoreCondition):
    """The condition of a store in files. A failure stays until a write succeeds."""

    def __init__(self, files: StoreFiles) -> None:
        super().__init__(cause_of)
        self.files = files

    def check_files(self) -> None:
        """Raises StoreMissing when the files are not where they were, and keeps that in mind."""
        try:
            self.files.check()
        except StoreMissing as error:
            self.failed(error)
            raise

    def wrote(self) -> None:
        """A write was committed."""
        if not (isinstance(self.problem, StoreFull) and self._free_bytes() < ENOUGH_BYTES):
            super().wrote()

    def _free_bytes(self) -> int:
        return shutil.disk_usage(self.files.database.parent).free
