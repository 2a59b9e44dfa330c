"""What a job reports, kept in the store: every process that shares it can read how the job stands."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nur.ports.clock import Clock
    from nur.ports.store_facts import StoreFacts

#: Between two writes of a report that only counts on.
EVERY_SECONDS = 1.0
#: A running job reports at least this often; one that did not has lost its process.
SILENT = timedelta(seconds=60)


@dataclass(slots=True)
class StoredReport:
    """One job's last report, under a name."""

    facts: StoreFacts
    name: str
    clock: Clock
    _written: float | None = None

    async def write(self, report: Any, *, at_once: bool = False) -> None:
        """Keep a dataclass's fields; unless `at_once`, at most one per second."""
        now = self.clock.monotonic()
        if at_once or self._written is None or now - self._written >= EVERY_SECONDS:
            self._written = now
            kept = {"at": self.clock.now().isoformat(), "report": asdict(report)}
            await self.facts.set(self.name, json.dumps(kept))

    async def read(self) -> tuple[dict[str, Any], bool] | None:
        """The fields, and whether they are recent enough for the job to be still running; None: never reported."""
        kept = await self.facts.get(self.name)
        if kept is None:
            return None
        found = json.loads(kept)
        return found["report"], self.clock.now() - datetime.fromisoformat(found["at"]) < SILENT
