"""A job's progress report, saved in the store so that every process can read it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nur.ports.clock import Clock
    from nur.ports.store_facts import StoreFacts

#: Minimum time between two writes.
EVERY_SECONDS = 1.0
#: A running job reports at least this often; after a longer gap its process has ended.
MAX_GAP = timedelta(seconds=60)


@dataclass(slots=True)
class StoredReport:
    """The last report of one job, saved under a name."""

    facts: StoreFacts
    name: str
    clock: Clock
    _written: float | None = None

    async def write(self, report: Any, *, at_once: bool = False) -> None:
        """Save a dataclass's fields; unless `at_once`, at most once per second."""
        now = self.clock.monotonic()
        if at_once or self._written is None or now - self._written >= EVERY_SECONDS:
            self._written = now
            entry = {"at": self.clock.now().isoformat(), "report": asdict(report)}
            await self.facts.set(self.name, json.dumps(entry))

    async def read(self) -> tuple[dict[str, Any], bool] | None:
        """Return the fields, and whether they are recent enough for the job to be running; None: no report."""
        fact = await self.facts.get(self.name)
        if fact is None:
            return None
        entry = json.loads(fact)
        return entry["report"], self.clock.now() - datetime.fromisoformat(entry["at"]) < MAX_GAP
