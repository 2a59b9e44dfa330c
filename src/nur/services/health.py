"""Health checks of the store, the vector index, the embedder and backups."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from nur.domain.errors import NurError
from nur.ports.clock import milliseconds_since
from nur.ports.embedder import Watched

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from nur.domain.embedding import EmbeddingModel, Probe
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.ports.outbox import Backlog
    from nur.ports.stores import Stores
    from nur.ports.vector_index import IndexHealth, VectorIndex
    from nur.services.indexing.watch_index import WatchIndex
    from nur.services.jobs.nightly_backup import NightlyBackup


#: Minimum time between two probes, which cost a provider request each, however often a monitor asks.
PROBE_SECONDS = 30.0
#: The same after a failed probe; shorter, so that recovery shows soon.
RETRY_SECONDS = 5.0


class HealthStatus(StrEnum):
    """Overall status, best first."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"  #: the store works, but another part does not
    UNHEALTHY = "unhealthy"


@dataclass(frozen=True, slots=True)
class HealthReport:
    """Overall status, and the result of each check."""

    status: HealthStatus
    checks: Mapping[str, Mapping[str, object]]
    at: datetime


@dataclass(slots=True)
class Health:
    """Checks everything Nur depends on. The embedder's probe is cached."""

    stores: Stores
    index: VectorIndex
    watch_index: WatchIndex
    embedder: Embedder
    nightly_backup: NightlyBackup | None
    clock: Clock
    _probe: Probe | None = None
    _probed_at: float = 0.0
    _probing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def __call__(self) -> HealthReport:
        """Run all checks."""
        store, embedder = await asyncio.gather(self.store(), self._embedder())
        index = self._index()
        checks = {"store": store, "index": index, "embedder": embedder}
        if self.nightly_backup is not None:
            checks["backup"] = _backup(self.nightly_backup)
        if store["status"] != HealthStatus.HEALTHY:
            status = HealthStatus.UNHEALTHY
        elif any(check["status"] != HealthStatus.HEALTHY for check in checks.values()):
            status = HealthStatus.DEGRADED
        else:
            status = HealthStatus.HEALTHY
        if self.index.name == "chroma":
            checks["chromadb"] = index
        if self.embedder.model.provider == "openai":
            checks["openai"] = embedder
        return HealthReport(status, checks, self.clock.now())

    async def probe(self) -> Probe:
        """Return the embedder's health: the last known state of a remote one, else a probe cached for PROBE_SECONDS."""
        if isinstance(self.embedder, Watched):
            return self.embedder.last_known()
        async with self._probing:
            now = self.clock.monotonic()
            max_age = PROBE_SECONDS if self._probe is None or self._probe.healthy else RETRY_SECONDS
            if self._probe is None or now - self._probed_at >= max_age:
                self._probe = await self.embedder.probe()
                self._probed_at = now
            return self._probe

    @property
    def can_write(self) -> bool:
        """Whether the store is not known to refuse writes."""
        return self.stores.problem is None

    async def store(self) -> dict[str, object]:
        """Check that the store can be read, and report its outbox."""
        started = self.clock.monotonic()
        try:
            await self.stores.ping()
            backlog = await self.stores.outbox.backlog(self.clock.now())
        except NurError as error:
            return {"status": HealthStatus.UNHEALTHY, "code": error.code, "error": str(error)}
        return {
            "status": HealthStatus.HEALTHY,
            "latency_ms": milliseconds_since(started, self.clock),
            **_outbox(backlog),
        }

    def _index(self) -> dict[str, object]:
        health: IndexHealth = self.watch_index.health
        status = HealthStatus.HEALTHY if health.healthy else HealthStatus.UNHEALTHY
        check: dict[str, object] = {"status": status, "name": self.index.name, "latency_ms": health.latency_ms}
        return check | ({"error": health.error} if health.error else {})

    async def _embedder(self) -> dict[str, object]:
        probe = await self.probe()
        check: dict[str, object] = {
            "status": HealthStatus.HEALTHY if probe.healthy else HealthStatus.UNHEALTHY,
            "model": self.embedder.model.name,
            "dimensions": self.embedder.model.dimensions,
            "latency_ms": probe.latency_ms,
        }
        return check | ({"error": probe.error} if probe.error else {})


def _backup(nightly: NightlyBackup) -> dict[str, object]:
    last = None if nightly.last_at is None else nightly.last_at.isoformat(timespec="seconds")
    if nightly.error is None:
        return {"status": HealthStatus.HEALTHY, "last_at": last}
    return {"status": HealthStatus.UNHEALTHY, "last_at": last, "error": nightly.error}


def _outbox(backlog: Backlog) -> dict[str, object]:
    """Return the backlog's size, and the last error if there are dead letters."""
    check: dict[str, object] = {"pending": backlog.pending}
    if backlog.dead:
        check |= {"dead_letters": backlog.dead, "last_error": backlog.last_error}
    return check


@dataclass(frozen=True, slots=True)
class EmbeddingReport:
    """Result of a test embedding."""

    model: EmbeddingModel
    probe: Probe
    key_configured: bool


@dataclass(frozen=True, slots=True)
class EmbeddingHealth:
    """Probes the provider at every call, unlike `Health`, which monitors call often."""

    embedder: Embedder
    key_configured: bool

    async def __call__(self) -> EmbeddingReport:
        """Embed a small text and return the result."""
        return EmbeddingReport(self.embedder.model, await self.embedder.probe(), self.key_configured)
