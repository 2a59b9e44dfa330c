"""Backups: backup files of one store, in one folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime


class Backups(Protocol):
    """Backups made by this program. Other files in the folder are left alone."""

    async def newest(self) -> datetime | None:
        """Return when the last backup was made, UTC; None if there is none. Raises StoreDown."""
        ...

    async def make(self, now: datetime) -> int:
        """Make a backup and return its size in bytes. Raises StoreFull, StoreDown, StoreUnusable."""
        ...

    async def prune(self, keep: int) -> int:
        """Delete all but the newest `keep` backups, and unfinished ones. Returns how many backups were deleted."""
        ...
