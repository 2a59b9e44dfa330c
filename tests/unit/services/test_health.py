"""What the health report says of each part, and of all together."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nur.domain.embedding import EmbeddingModel, Probe
from nur.domain.errors import StoreDown
from nur.ports.outbox import Backlog
from nur.services.health import Health, HealthStatus
from tests.doubles.clock import ManualClock
from tests.store_notes import START

QUIET = Backlog(pending=2, dead=0, oldest_seconds=1.0, last_error="slow")


@dataclass
class Parts:
    """Everything that is checked."""

    backlog: Backlog = QUIET
    problem: Exception | None = None
    fails: bool = False
    index: Any = None
    provider: str = "local"
    index_name: str = "flat"
    backup: Any = None
    probes: int = 0
    is_well: bool = True

    def __post_init__(self) -> None:
        self.clock = ManualClock()
        self.outbox = SimpleNamespace(backlog=self._backlog)
        self.model = EmbeddingModel(self.provider, "words", 8)

    async def ping(self) -> None:
        self.clock.advance(0.25)
        if self.fails:
            raise StoreDown("The store is down.")

    async def _backlog(self, now: object) -> Backlog:
        return self.backlog

    async def probe(self) -> Probe:
        self.probes += 1
        return Probe(healthy=self.is_well, latency_ms=3, dimensions=8, error=None if self.is_well else "down")

    def health(self) -> Health:
        found = self.index or SimpleNamespace(healthy=True, latency_ms=1, error=None)
        me = cast("Any", self)
        index = cast("Any", SimpleNamespace(name=self.index_name))
        return Health(me, index, cast("Any", SimpleNamespace(health=found)), me, self.backup, self.clock)


async def test_everything_works() -> None:
    parts = Parts()
    report = await parts.health()()
    assert (report.status, report.at) == (HealthStatus.HEALTHY, parts.clock.now())
    assert report.checks == {
        "store": {"status": "healthy", "latency_ms": 250, "pending": 2},
        "index": {"status": "healthy", "name": "flat", "latency_ms": 1},
        "embedder": {"status": "healthy", "model": "words", "dimensions": 8, "latency_ms": 3},
    }


async def test_the_older_names_of_checks_are_there_too() -> None:
    report = await Parts(provider="openai", index_name="chroma").health()()
    assert report.checks["openai"] == report.checks["embedder"]
    assert report.checks["chromadb"] == report.checks["index"]


async def test_dead_letters_are_named_with_their_error() -> None:
    report = await Parts(Backlog(pending=0, dead=3, oldest_seconds=0.0, last_error="refused")).health()()
    store = dict(report.checks["store"])
    assert (store["dead_letters"], store["last_error"]) == (3, "refused")


async def test_a_store_that_is_down_makes_all_unhealthy() -> None:
    report = await Parts(fails=True).health()()
    assert report.status is HealthStatus.UNHEALTHY
    assert report.checks["store"] == {"status": "unhealthy", "code": StoreDown.code, "error": "The store is down."}


@pytest.mark.parametrize(
    "parts",
    [
        Parts(index=SimpleNamespace(healthy=False, latency_ms=None, error="lost")),
        Parts(is_well=False),
        Parts(backup=SimpleNamespace(last_at=None, error="disk full")),
    ],
)
async def test_anything_else_that_fails_degrades(parts: Parts) -> None:
    assert (await parts.health()()).status is HealthStatus.DEGRADED


async def test_a_failing_index_and_embedder_say_why() -> None:
    parts = Parts(index=SimpleNamespace(healthy=False, latency_ms=None, error="lost"), is_well=False)
    checks = (await parts.health()()).checks
    assert (checks["index"]["status"], checks["index"]["error"]) == ("unhealthy", "lost")
    assert (checks["embedder"]["status"], checks["embedder"]["error"]) == ("unhealthy", "down")


@pytest.mark.parametrize(
    ("backup", "expected"),
    [
        ((None, None), {"status": "healthy", "last_at": None}),
        ((START, None), {"status": "healthy", "last_at": "2026-01-01T00:00:00+00:00"}),
        ((START, "full"), {"status": "unhealthy", "last_at": "2026-01-01T00:00:00+00:00", "error": "full"}),
    ],
)
async def test_the_nightly_backup_is_reported(backup: tuple[Any, Any], expected: dict[str, Any]) -> None:
    last_at, error = backup
    report = await Parts(backup=SimpleNamespace(last_at=last_at, error=error)).health()()
    assert report.checks["backup"] == expected


@pytest.mark.parametrize(("is_well", "lasts"), [(True, 30.0), (False, 5.0)])
async def test_a_probe_lasts_for_a_while(is_well: bool, lasts: float) -> None:
    parts = Parts(is_well=is_well)
    health = parts.health()
    await health.probe()
    parts.clock.advance(lasts - 0.1)
    await health.probe()
    assert parts.probes == 1
    parts.clock.advance(0.1)
    await health.probe()
    assert parts.probes == 2


def test_a_store_with_a_problem_cannot_be_written() -> None:
    assert Parts().health().can_write
    assert not Parts(problem=StoreDown("full")).health().can_write
