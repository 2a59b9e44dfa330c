"""Housekeeping: expired notes go to the trash, old trash goes for good."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from nur.adapters.sql.sqlite.files import FILE
from nur.domain.errors import NotFound
from nur.domain.notes import Retention, Status
from nur.services.jobs.housekeeping import KEEP_TRASH
from nur.services.notes.edit_note import Edit
from tests.doubles.clock import ManualClock
from tests.note_world import ME

if TYPE_CHECKING:
    from tests.note_world import World
    from tests.unit.services.conftest import OpenWorld

DAY = 86_400.0


async def test_an_expired_note_goes_to_the_trash_and_in_the_end_for_good(open_world: OpenWorld) -> None:
    world = await open_world()
    stored = await world.add("Tea for a day.", ttl_days=1)
    await world.drain()
    assert await world.services.housekeeping.once() == 0
    world.clock.advance(DAY)
    assert await world.services.housekeeping.once() == 1
    assert await world.index.count() == 0
    gone = (await world.stores.notes.by_ids([stored.note.note_id]))[stored.note.note_id]
    assert gone.status is Status.DELETED
    assert _last_line(world) == ("retention", "expire")

    world.clock.advance(KEEP_TRASH.total_seconds())
    assert await world.services.housekeeping.once() == 0
    world.clock.advance(DAY)
    assert await world.services.housekeeping.once() == 0  # at the last look it was just not old enough
    world.clock.advance(DAY)
    assert await world.services.housekeeping.once() == 1
    assert await world.stores.notes.by_ids([stored.note.note_id]) == {}


def _last_line(world: World) -> tuple[str, str]:
    """Principal and action of the last line of the audit log."""
    with closing(sqlite3.connect(world.folder / FILE)) as store:
        rows = store.execute("SELECT principal, action FROM audit_log ORDER BY audit_id DESC LIMIT 1")
        principal, action = rows.fetchone()
    return principal, action


class WallClock(ManualClock):
    """A clock that can be set wrong, and right again."""

    wrong_by = timedelta()

    def now(self) -> datetime:
        return super().now() + self.wrong_by


@pytest.mark.parametrize("ahead_days", [40, 7300])
@pytest.mark.parametrize("looked_before", [False, True])
async def test_a_clock_that_is_ahead_for_hours_erases_nothing(
    open_world: OpenWorld, ahead_days: int, looked_before: bool
) -> None:
    clock = WallClock()
    world = await open_world(clock=clock)
    name = (await world.add("Tea.")).note.public_id
    await world.services.forget(name, None, ME)
    if looked_before:
        await world.services.housekeeping.once()
    clock.wrong_by = timedelta(days=ahead_days)
    for _ in range(23):
        assert await world.services.housekeeping.once() == 0
        clock.advance(DAY / 24)
    clock.wrong_by = timedelta()
    for _ in range(29):  # the looks made while it was wrong do not count
        clock.advance(DAY)
        assert await world.services.housekeeping.once() == 0
    assert (await world.services.trash.restore(name, ME)).note.status is Status.ACTIVE


@pytest.mark.parametrize(
    ("retention", "kept_days", "gone_days"),
    [
        (Retention.FOREVER, 4000, None),
        (Retention.ONE_YEAR, 364, 365),
        (Retention.UNTIL_RESOLVED, 4000, None),
    ],
)
async def test_retention_policies_run(
    open_world: OpenWorld, retention: Retention, kept_days: int, gone_days: int | None
) -> None:
    world = await open_world()
    stored = await world.add("Tea.", retention=retention)
    world.clock.advance(kept_days * DAY)
    await world.services.housekeeping.once()
    assert (await world.services.get_note(stored.note.public_id, ME)).status is Status.ACTIVE
    if gone_days is not None:
        world.clock.advance((gone_days - kept_days) * DAY)
        assert await world.services.housekeeping.once() == 1


async def test_a_resolved_note_goes_and_an_unresolved_one_comes_back(open_world: OpenWorld) -> None:
    world = await open_world()
    stored = await world.add("The tap drips.", retention=Retention.UNTIL_RESOLVED)
    name = stored.note.public_id
    await world.services.edit_note(name, Edit(fields={}, resolved=True), ME)
    with pytest.raises(NotFound):
        await world.services.get_note(name, ME)
    assert await world.services.housekeeping.once() == 1
    await world.services.trash.restore(name, ME)
    assert (await world.services.get_note(name, ME)).resolved_at is None


async def test_resolving_another_note_only_marks_it(open_world: OpenWorld) -> None:
    world = await open_world()
    name = (await world.add("The tap drips.")).note.public_id
    await world.services.edit_note(name, Edit(fields={}, resolved=True), ME)
    assert (await world.services.get_note(name, ME)).resolved_at == world.clock.now()
    await world.services.edit_note(name, Edit(fields={}, resolved=False), ME)
    assert (await world.services.get_note(name, ME)).resolved_at is None


async def test_bookkeeping_is_purged_after_a_day(open_world: OpenWorld) -> None:
    world = await open_world()
    await world.add("Tea.")
    await world.drain()
    await world.stores.idempotency.reserve("k", "h", ME.at(world.clock.now()))
    world.clock.advance(DAY + 1)
    await world.services.housekeeping.once()
    assert await world.stores.outbox.purge_done(world.clock.now()) == 0
    assert await world.stores.idempotency.purge(world.clock.now()) == 0
