"""Contract of IndexMarks: tracks which chunks are indexed at their note's revision."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from nur.ports.outbox import Backlog
from tests.store_notes import (
    EMBEDDING,
    OTHER_EMBEDDING,
    START,
    a_note,
    creation,
    description,
    remove,
    replacement,
    store,
    write,
)

if TYPE_CHECKING:
    from nur.ports.stores import Stores

DAY = timedelta(days=1)


async def index(stores: Stores, revision: int) -> None:
    """Finish all due jobs, marking this revision as indexed."""
    for job in await stores.outbox.lease("w", 10, START, 60):
        await stores.outbox.finish(job, START, indexed=revision)


async def test_a_note_is_indexed_when_every_chunk_is_at_its_revision(stores: Stores) -> None:
    note = await store(stores, pieces=2)
    assert not await stores.index_marks.is_indexed(note.note_id)
    await index(stores, note.revision)
    assert await stores.index_marks.is_indexed(note.note_id)

    moved = await write(stores, description(note, title="Tea"))

    assert not await stores.index_marks.is_indexed(note.note_id)
    gone = await remove(stores, moved)
    assert await stores.index_marks.is_indexed(gone.note_id)  # it has no chunks


async def test_a_mark_of_another_revision_is_refused(stores: Stores) -> None:
    note = await write(stores, description(await store(stores), title="Tea"))

    for revision in (1, 3):  # the note has moved on; the note was never there
        await index(stores, revision)
        assert not await stores.index_marks.is_indexed(note.note_id)
        await stores.index_marks.clear(START)
    await index(stores, 2)
    assert await stores.index_marks.is_indexed(note.note_id)


async def test_a_write_that_the_index_follows_is_indexed_at_once_and_queues_nothing(stores: Stores) -> None:
    note = await write(stores, creation(a_note(), indexed=True))
    assert await stores.index_marks.is_indexed(note.note_id)
    note = await write(stores, description(note, indexed=True, title="Tea"))
    assert await stores.index_marks.is_indexed(note.note_id)
    note = await write(stores, replacement(note, "Coffee.", indexed=True))
    assert await stores.index_marks.is_indexed(note.note_id)
    await remove(stores, note, indexed=True)

    assert await stores.outbox.backlog(START) == Backlog(0, 0, 0.0, None)


async def test_a_filled_index_closes_the_jobs_of_complete_notes(stores: Stores) -> None:
    complete = await store(stores, "Tea.")
    incomplete = await write(stores, creation(a_note("Milk."), "Milk.", embedded=False))

    assert await stores.index_marks.mark_all(EMBEDDING, START) == 1

    assert await stores.index_marks.is_indexed(complete.note_id)
    assert not await stores.index_marks.is_indexed(incomplete.note_id)
    assert [job.note_id for job in await stores.outbox.lease("w", 10, START, 60)] == [incomplete.note_id]


async def test_a_filled_index_leaves_the_jobs_of_removed_notes_open(stores: Stores) -> None:
    gone = await remove(stores, await store(stores))

    assert await stores.index_marks.mark_all(EMBEDDING, START) == 0

    assert [job.note_id for job in await stores.outbox.lease("w", 10, START, 60)] == [gone.note_id]


async def test_an_index_that_lost_everything_has_every_active_note_queued_the_oldest_first(stores: Stores) -> None:
    notes = []
    for days in (1, 3, 2, 4):
        note = a_note(f"Text {days}.", ingested_at=START - days * DAY)
        notes.append(await write(stores, creation(note, f"Text {days}.", indexed=True)))
    await remove(stores, notes.pop(), indexed=True)
    assert await stores.index_marks.count(EMBEDDING) == 3

    assert await stores.index_marks.clear(START) == 3

    assert await stores.index_marks.count(EMBEDDING) == 0
    assert await stores.index_marks.sample(EMBEDDING, 10, START) == []
    assert not any([await stores.index_marks.is_indexed(note.note_id) for note in notes])
    jobs = await stores.outbox.lease("w", 10, START, 60)
    assert [job.note_id for job in jobs] == [notes[place].note_id for place in (1, 2, 0)]


async def test_clearing_revives_a_dead_letter_and_adds_no_second_job(stores: Stores) -> None:
    note = await store(stores)
    (job,) = await stores.outbox.lease("w", 10, START, 60)
    await stores.outbox.postpone(job, "refused", None)

    assert await stores.index_marks.clear(START) == 1

    assert await stores.outbox.backlog(START) == Backlog(1, 0, 0.0, None)
    assert [job.note_id for job in await stores.outbox.lease("w", 10, START, 60)] == [note.note_id]


async def test_clearing_ends_leases_so_that_no_worker_closes_what_is_to_be_done_again(stores: Stores) -> None:
    note = await store(stores)
    (job,) = await stores.outbox.lease("first", 10, START, 60)

    await stores.index_marks.clear(START)
    await stores.outbox.finish(job, START, indexed=1)  # it wrote to the index that was emptied

    assert not await stores.index_marks.is_indexed(note.note_id)
    assert [job.note_id for job in await stores.outbox.lease("second", 10, START, 60)] == [note.note_id]


async def test_samples_are_chunks_that_the_index_holds_as_they_are_now(stores: Stores) -> None:
    notes = [await write(stores, creation(a_note(f"Text {i}."), f"Text {i}.", indexed=True)) for i in range(8)]
    await store(stores, "Never indexed.")
    await write(stores, description(notes.pop(), title="Indexed as it was before"))

    samples = await stores.index_marks.sample(EMBEDDING, 100, START)

    assert {sample.note.note_id for sample in samples} == {note.note_id for note in notes}
    assert len(await stores.index_marks.sample(EMBEDDING, 3, START)) == 3
    assert await stores.index_marks.sample(OTHER_EMBEDDING, 3, START) == []
    assert await stores.index_marks.count(EMBEDDING) == 8  # a record of the previous state is a record
    assert await stores.index_marks.count(OTHER_EMBEDDING) == 0
