"""Detect that another process has switched the store to another embedding model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.errors import NurError
from nur.observability.events import EventLog
from nur.ports.store_facts import EMBEDDING_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.ports.clock import Clock
    from nur.ports.stores import Stores

log = EventLog("Reembed")

EVERY_SECONDS = 2.0


@dataclass(slots=True)
class WatchModel:
    """Reopens the store when its embedding model is no longer the one this process uses."""

    stores: Stores
    version: str  #: embedding version this process uses
    clock: Clock
    reopen: Callable[[], None] = lambda: None  #: set by the owner of the open store

    async def forever(self) -> None:
        """Check every few seconds until the model changes. Returns at once if no other process shares the store."""
        while self.stores.is_shared:
            await self.clock.sleep(EVERY_SECONDS)
            if await self.has_changed():
                self.reopen()
                return

    async def has_changed(self) -> bool:
        """Whether another embedding version is active in the store."""
        try:
            current = await self.stores.facts.get(EMBEDDING_VERSION)
        except NurError as error:
            log.warning("model_not_checked", error=error.code)
            return False
        if current in (None, self.version):
            return False
        log.info("embedding_switched_elsewhere", from_version=self.version, to_version=current)
        return True
