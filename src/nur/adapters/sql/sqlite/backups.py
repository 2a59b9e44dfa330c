"""SqliteBackups: backups of a SQLite store in a folder, named by time."""

from __future__ import annotations

import asyncio
import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from nur.adapters.sql.sqlite.backup import back_up, backup_name, is_left_over
from nur.domain.errors import StoreDown

if TYPE_CHECKING:
    from pathlib import Path

_NAME = re.compile(r"nur-(\d{8}T\d{6})Z\.tar\.gz(\.enc)?")


@dataclass(frozen=True, slots=True)
class SqliteBackups:
    """Backups of the store in `data_dir`, in `folder`; encrypted where there is a passphrase."""

    data_dir: Path
    folder: Path
    passphrase: str | None = None

    async def newest(self) -> datetime | None:
        """When the last one was made, UTC; None: there is none. Raises StoreDown."""
        found = await asyncio.to_thread(self._existing)
        return max((moment for moment, _ in found), default=None)

    async def make(self, now: datetime) -> int:
        """Make one and return its size in bytes. Raises StoreFull, StoreDown, StoreUnusable."""
        target = self.folder / backup_name(now, encrypted=self.passphrase is not None)
        await asyncio.to_thread(back_up, self.data_dir, target, now, self.passphrase)
        return target.stat().st_size

    async def prune(self, keep: int) -> int:
        """Delete all but the newest ones, and what killed backups left; returns how many backups went."""
        return await asyncio.to_thread(self._prune, keep)

    def _existing(self) -> list[tuple[datetime, Path]]:
        """Oldest first."""
        try:
            paths = list(self.folder.iterdir()) if self.folder.exists() else []
        except OSError as error:
            raise StoreDown(f"BACKUP_DIR: cannot read {self.folder} ({error.strerror}).") from error
        named = ((path, _NAME.fullmatch(path.name)) for path in paths)
        return sorted((_moment(match[1]), path) for path, match in named if match is not None)

    def _prune(self, keep: int) -> int:
        too_old = self._existing()[:-keep]
        for _, path in too_old:
            path.unlink(missing_ok=True)
        for path in filter(is_left_over, list(self.folder.iterdir())):
            shutil.rmtree(path, ignore_errors=True)
        return len(too_old)


def _moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
