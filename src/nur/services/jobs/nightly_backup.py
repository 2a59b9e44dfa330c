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

LOOK_EVERY_SECONDS = 60.0
#: After one that failed: reading and checking a large store is work.
RETRY_SECONDS = 3600.0


@dataclass(slots=True)
class NightlyBackup:
    """Makes a backup when the last one was made before the hour of the day that has last passed.

    So a machine that sleeps at night is backed up when it wakes.
    """

    backups: Backups
    at: time  #: of the day, in this zone
    zone: tzinfo | None  #: None: the system's
    keep: int
    clock: Clock
    error: str | None = None  #: why the last one failed; None: it did not
    last_at: datetime | None = None  #: of the newest one; None: not known, or there is none
    _retry_at: float = 0.0

    async def forever(self) -> None:
        """Look every minute until cancelled."""
        while True:
            with traced():
                await self.once()
            await self.clock.sleep(LOOK_EVERY_SECONDS)

    async def once(self) -> bool:
        """Make a backup if one is due; returns whether one was made. A failure is logged and reported by `error`."""
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
        """The last time before now at which a backup should have been made."""
        local = now.astimezone(self.zone)
        today = local.replace(hour=self.at.hour, minute=self.at.minute, second=0, microsecond=0)
        return today if today <= local else today - timedelta(days=1)
