"""What is SQLite's own: one process owns the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.adapters.sql.sqlite.stores import SqliteStores
from nur.ports.idempotency import RESERVATION_SECONDS
from tests.store_notes import START, after, at, store

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_new_owner_waits_for_nobody_who_died(tmp_path: Path) -> None:
    previous = SqliteStores(tmp_path)
    await previous.open(START)
    await store(previous)
    (left,) = await previous.outbox.lease("dead", 9, START, 60)
    assert await previous.idempotency.reserve("k", "hash", at(call_id="reserving")) is None
    await previous.close()

    owner, now = SqliteStores(tmp_path), after(1)
    assert now < after(RESERVATION_SECONDS)
    await owner.open(now)
    try:
        (job,) = await owner.outbox.lease("alive", 9, now, 60)
        assert job.job_id == left.job_id
        assert await owner.idempotency.reserve("k", "hash", at(now, call_id="again")) is None
    finally:
        await owner.close()
