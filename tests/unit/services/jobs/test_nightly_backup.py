"""A backup every night: when it is due, what happens when it fails, and what is deleted."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta, timezone

import pytest

from nur.domain.errors import NurError, StoreFull
from nur.services.jobs.nightly_backup import RETRY_SECONDS, NightlyBackup
from tests.doubles.clock import ManualClock

HOUR = 3600.0


@dataclass
class InMemoryBackups:
    """Backups that can fail."""

    made: list[datetime] = field(default_factory=list)
    failure: NurError | None = None
    tries: int = 0

    async def newest(self) -> datetime | None:
        return max(self.made, default=None)

    async def make(self, now: datetime) -> int:
        self.tries += 1
        if self.failure is not None:
            raise self.failure
        self.made.append(now)
        return 100

    async def prune(self, keep: int) -> int:
        gone = self.made[:-keep]
        del self.made[:-keep]
        return len(gone)


@pytest.fixture
def clock() -> ManualClock:
    """Noon in a place two hours ahead of UTC."""
    return ManualClock(datetime(2026, 1, 1, 10, tzinfo=UTC))


def nightly(backups: InMemoryBackups, clock: ManualClock) -> NightlyBackup:
    return NightlyBackup(backups, time(3), timezone(timedelta(hours=2)), 2, clock)


async def test_it_is_made_once_a_day_at_its_hour_in_its_zone(clock: ManualClock) -> None:
    backups = InMemoryBackups()
    job = nightly(backups, clock)
    for _ in range(3 * 24 * 60):
        await job.once()
        clock.advance(60)
    hours = [moment.hour for moment in backups.made]
    assert hours == [1, 1]  # three o'clock is one in UTC; of four, the first at once, two are kept
    assert backups.tries == 4
    assert job.last_at == backups.made[-1]


async def test_one_that_was_missed_is_made_at_the_next_start(clock: ManualClock) -> None:
    backups = InMemoryBackups([clock.now() - timedelta(hours=1)])
    assert not await nightly(backups, clock).once()
    clock.advance(48 * HOUR)
    assert await nightly(backups, clock).once()


async def test_a_failure_is_told_and_tried_again_after_an_hour(clock: ManualClock) -> None:
    backups = InMemoryBackups(failure=StoreFull("The disk is full."))
    job = nightly(backups, clock)
    assert not await job.once()
    assert job.error == "The disk is full."
    clock.advance(60)
    await job.once()
    assert backups.tries == 1
    clock.advance(RETRY_SECONDS)
    backups.failure = None
    assert await job.once()
    assert job.error is None
