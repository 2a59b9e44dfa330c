"""Back up the store once a day, and delete old backups."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING

from nur.domain.errors import NurError
from nur.observability.events import EventLog, traced

if TYPE_CHECKING:
    from nur.ports.backups import Backups
    from nur.ports.clock import Clock

log = EventLog("Backup")

CHECK_EVERY_SECONDS = 60.0
#: Delay after a failed backup; reading and checking a large store is expensive.
RETRY_SECONDS = 3600.0


@dataclass(slots=True)
class NightlyBackup:
    """Makes a backup if there is none since the last scheduled time.

    A machine that sleeps at night is therefore backed up when it wakes.
    """

    backups: Backups
    at: time  #: time of day, in `zone`
    zone: tzinfo | None  #: None: the system's
    keep: int
    clock: Clock
    error: str | None = None  #: why the last backup failed; None: it did not
    last_at: datetime | None = None  #: when the newest backup was made; None: unknown, or there is none
    _retry_at: float = 0.0

    async def forever(self) -> None:
        """Check every minute until cancelled."""
        while True:
            with traced():
                await self.once()
            await self.clock.sleep(CHECK_EVERY_SECONDS)

    async def once(self) -> bool:
        """Make a backup if one is due. Returns whether one was made. A failure is logged and kept in `error`."""
        if self.clock.monotonic() < self._retry_at:
            return False
        now, started = self.clock.now(), self.clock.monotonic()
        try:
            self.last_at = await self.backups.newest()
            if self.last_at is not None and self.last_at >= self._due(now):
                return False
            size = await self.backups.make(now)
            self.last_at = now
            pruned = await self.backups.prune(self.keep)
        except NurError as error:
            self.error = str(error)
            self._retry_at = self.clock.monotonic() + RETRY_SECONDS
            log.error("backup_failed", error=error.code)  # noqa: TRY400  # a full disk needs no traceback
            return False
        self.error = None
        seconds = round(self.clock.monotonic() - started, 1)
        log.info("backup_made", bytes=size, pruned=pruned, seconds=seconds)
        return True

    def _due(self, now: datetime) -> datetime:
        """Return the last scheduled backup time before now."""
        local = now.astimezone(self.zone)
        today = local.replace(hour=self.at.hour, minute=self.at.minute, second=0, microsecond=0)
        return today if today <= local else today - timedelta(days=1)
