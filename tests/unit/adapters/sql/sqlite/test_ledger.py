from __future__ import annotations

from typing import TYPE_CHECKING

from nur.adapters.in_memory.clock import ManualClock
from nur.adapters.sql.sqlite.ledger import SqliteLedger
from tests.ledger_notes import START, a_note, creation

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_new_owner_waits_for_nobody_who_died(tmp_path: Path) -> None:
    clock = ManualClock(START)
    former = SqliteLedger(tmp_path, clock)
    await former.open()
    await former.write(creation(a_note()))
    leased = await former.lease("dead", 9, clock.now(), 60)
    assert await former.reserve_key("default", "k", "hash", "trace", clock.now()) is None
    await former.close()

    owner = SqliteLedger(tmp_path, clock)
    await owner.open()
    try:
        again = await owner.lease("alive", 9, clock.now(), 60)
        assert [job.job_id for job in again] == [job.job_id for job in leased]
        assert len(again) == 1
        assert await owner.reserve_key("default", "k", "hash", "trace", clock.now()) is None
    finally:
        await owner.close()
