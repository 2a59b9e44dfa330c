"""Time passes only when told to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.doubles.clock import ManualClock


async def test_sleeping_advances_both_times_and_is_recorded() -> None:
    start = datetime(2026, 5, 1, tzinfo=UTC)
    clock = ManualClock(start)
    await clock.sleep(90.0)
    clock.advance(10.0)
    assert (clock.monotonic(), clock.now(), clock.sleeps) == (100.0, start + timedelta(seconds=100), [90.0])
