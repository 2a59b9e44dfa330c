"""Contract of Outbox: jobs are leased to one worker at a time, retried, and abandoned."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from nur.ports.outbox import Backlog, DeadLetter, Task
from tests.store_notes import START, a_note, after, at, creation, description, remove, replacement, store, write

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import NoteId
    from nur.ports.outbox import Job
    from nur.ports.stores import Stores

MINUTE = 60.0
NOTHING = Backlog(0, 0, 0.0, None)


async def lease(stores: Stores, now: datetime = START, worker: str = "w", seconds: float = MINUTE) -> list[Job]:
    return await stores.outbox.lease(worker, 10, now, seconds)


async def leased(stores: Stores, now: datetime = START) -> list[tuple[NoteId, int, int]]:
    return [(job.note_id, job.revision, job.attempts) for job in await lease(stores, now)]


# Jobs


async def test_every_write_that_no_index_follows_is_queued(stores: Stores) -> None:
    note = await store(stores)
    (job,) = await lease(stores)
    assert (job.note_id, job.revision, job.attempts) == (note.note_id, 1, 0)
    assert (job.worker, job.task) == ("w", Task.INDEX)
    await stores.outbox.finish(job, START)
    assert await leased(stores) == []

    note = await write(stores, description(note, title="Tea"))
    (job,) = await lease(stores)
    assert job.revision == 2
    await stores.outbox.finish(job, START)

    await remove(stores, note)  # a removal is to be applied too
    assert await leased(stores) == [(note.note_id, 3, 0)]


async def test_later_writes_of_a_note_raise_its_open_job(stores: Stores) -> None:
    note = await store(stores)
    note = await write(stores, replacement(note, "Coffee."))
    await write(stores, description(note, title="Coffee"))

    assert (await stores.outbox.backlog(START)).pending == 1
    assert await leased(stores) == [(note.note_id, 3, 0)]


async def test_jobs_are_leased_oldest_first_and_to_one_worker_at_a_time(stores: Stores) -> None:
    notes = [a_note(f"Text {i}.") for i in range(4)]
    for i, note in enumerate(notes):
        await stores.notes.write(creation(note, f"Text {i}."), at(after(i)))

    batches = await asyncio.gather(*(stores.outbox.lease(f"w{i}", 2, after(9), MINUTE) for i in range(3)))

    ids = [note.note_id for note in notes]
    assert sorted(map(len, batches)) == [0, 2, 2]
    assert sorted(job.note_id for batch in batches for job in batch) == sorted(ids)
    for batch in batches:
        assert [job.note_id for job in batch] in ([], ids[:2], ids[2:])


async def test_a_job_is_not_done_when_its_note_was_written_again_meanwhile(stores: Stores) -> None:
    note = await store(stores)
    (job,) = await lease(stores)
    await write(stores, description(note, title="Tea"))
    assert await leased(stores) == []  # still leased: two workers never have one note at once

    await stores.outbox.finish(job, START)

    assert await leased(stores) == [(note.note_id, 2, 0)]


async def test_a_job_that_is_done_stays_done(stores: Stores) -> None:
    await store(stores)
    (job,) = await lease(stores, seconds=0)
    (same,) = await lease(stores, worker="other")  # the lease ended at once
    assert same.job_id == job.job_id
    await stores.outbox.finish(same, START)

    await stores.outbox.postpone(job, "too late", START)
    await stores.outbox.finish(job, START)

    assert await stores.outbox.backlog(START) == NOTHING


# Leases


async def test_a_lease_that_runs_out_frees_the_job(stores: Stores) -> None:
    note = await store(stores)
    assert await leased(stores) == [(note.note_id, 1, 0)]
    assert await leased(stores, after(59)) == []
    assert await leased(stores, after(60)) == [(note.note_id, 1, 0)]


async def test_a_lease_that_is_renewed_is_nobody_elses(stores: Stores) -> None:
    await store(stores)
    jobs = await lease(stores, worker="first")
    await stores.outbox.renew(jobs, after(50 + MINUTE))
    assert await lease(stores, after(100), worker="second") == []


async def test_a_worker_whose_lease_ran_out_can_change_nothing(stores: Stores) -> None:
    await store(stores)
    late = await lease(stores, worker="first")
    now = after(MINUTE)
    taken = await lease(stores, now, worker="second")
    assert [job.job_id for job in taken] == [job.job_id for job in late]

    await stores.outbox.renew(late, now + timedelta(days=1))
    await stores.outbox.postpone(late[0], "too late", now + timedelta(days=1))
    await stores.outbox.finish(late[0], now)
    assert await stores.outbox.backlog(now) == Backlog(1, 0, MINUTE, None)
    assert len(await lease(stores, after(2 * MINUTE), worker="third")) == 1  # the renewal was the first worker's

    await stores.outbox.finish(taken[0], now)
    assert (await stores.outbox.backlog(now)).pending == 1  # now it is the third worker's


# Failures


async def test_a_failed_job_comes_back_at_its_time(stores: Stores) -> None:
    note = await store(stores)
    (job,) = await lease(stores)

    await stores.outbox.postpone(job, "the index is down", after(5))

    assert await leased(stores, after(4.999999)) == []
    assert await leased(stores, after(5)) == [(note.note_id, 1, 1)]
    assert await stores.outbox.backlog(after(5)) == Backlog(1, 0, 5.0, "the index is down")


async def test_a_failure_of_an_old_revision_does_not_put_the_new_one_off(stores: Stores) -> None:
    note = await store(stores)
    (job,) = await lease(stores)
    await write(stores, description(note, title="Tea"))

    await stores.outbox.postpone(job, "refused", None)

    assert await leased(stores) == [(note.note_id, 2, 0)]
    assert await stores.outbox.backlog(START) == Backlog(1, 0, 0.0, None)


async def test_a_dead_letter_is_left_alone_until_its_note_is_written_again(stores: Stores) -> None:
    note = await store(stores)
    (job,) = await lease(stores)
    await stores.outbox.postpone(job, "refused", None)
    later = after(1_000_000)
    assert await leased(stores, later) == []
    assert await stores.outbox.backlog(later) == Backlog(0, 1, 0.0, "refused")

    await write(stores, description(note, title="Tea"), later)

    assert await leased(stores, later) == [(note.note_id, 2, 0)]
    backlog = await stores.outbox.backlog(later)
    assert (backlog.pending, backlog.dead, backlog.last_error) == (1, 0, None)


async def test_dead_letters_are_named_and_can_be_tried_again(stores: Stores) -> None:
    note = await store(stores)
    (job,) = await lease(stores)
    await stores.outbox.postpone(job, "refused", None)
    letter = DeadLetter(note.note_id, note.public_id, 1, 1, "refused", Task.INDEX)
    assert await stores.outbox.dead_letters(10) == [letter]
    assert await lease(stores) == []

    assert await stores.outbox.retry_dead(START) == 1

    assert await stores.outbox.dead_letters(10) == []
    assert await leased(stores) == [(note.note_id, 1, 0)]


async def test_dead_letters_come_newest_first_and_outlive_their_notes(stores: Stores) -> None:
    notes = [await store(stores, f"Text {i}.") for i in range(3)]
    for job in await lease(stores):
        await stores.outbox.postpone(job, "refused", None)
    await stores.notes.purge(notes[1], at(), indexed=True)

    letters = await stores.outbox.dead_letters(2)

    assert [(letter.note_id, letter.public_id) for letter in letters] == [
        (notes[2].note_id, notes[2].public_id),
        (notes[1].note_id, None),
    ]


# What waits


async def test_the_backlog_tells_the_age_of_the_oldest_job(stores: Stores) -> None:
    assert await stores.outbox.backlog(START) == NOTHING
    await store(stores)
    await write(stores, creation(a_note("Coffee."), "Coffee."), after(30))
    assert await stores.outbox.backlog(after(30)) == Backlog(2, 0, 30.0, None)


async def test_the_error_of_the_backlog_is_that_of_a_dead_letter(stores: Stores) -> None:
    await store(stores, "Dead.")
    (dead,) = await lease(stores)
    await stores.outbox.postpone(dead, "too long", None)
    await store(stores, "Waits.")
    (waits,) = await lease(stores)
    await stores.outbox.postpone(waits, "provider down", after(9))
    assert (await stores.outbox.backlog(START)).last_error == "too long"


async def test_a_job_is_due_until_it_is_done_or_put_off(stores: Stores) -> None:
    await store(stores, "Tea.")
    await store(stores, "Milk.")
    assert await stores.outbox.count_due(START) == 2
    one, other = await lease(stores)
    assert await stores.outbox.count_due(START) == 2
    await stores.outbox.finish(one, START)
    await stores.outbox.postpone(other, "down", after(5))
    assert await stores.outbox.count_due(START) == 0
    assert await stores.outbox.count_due(after(5)) == 1


async def test_done_rows_are_purged_and_open_ones_stay(stores: Stores) -> None:
    await store(stores, "Tea.")
    (job,) = await lease(stores)
    await stores.outbox.finish(job, after(1))
    await store(stores, "Milk.")
    assert await stores.outbox.purge_done(after(1)) == 0
    assert await stores.outbox.purge_done(after(2)) == 1
    assert (await stores.outbox.backlog(START)).pending == 1
