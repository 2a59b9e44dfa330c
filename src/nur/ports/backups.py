"""Backups: the backups of one store, in one folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime


class Backups(Protocol):
    """Backups that are made by the program itself; other files in the folder are left alone."""

    async def newest(self) -> datetime | None:
        """When the last one was made, UTC; None: there is none. Raises StoreDown."""
        ...

    async def make(self, now: datetime) -> int:
        """Make one and return its size in bytes. Raises StoreFull, StoreDown, StoreUnusable."""
        ...

    async def prune(self, keep: int) -> int:
        """Delete all but the newest ones, and what killed backups left; returns how many backups went."""
        ...
