"""What every ledger keeps to when it is looked after: leases, dead letters, trash, versions of vectors, the desk."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pytest

from nur.domain.errors import Conflict
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind
from nur.observability.events import traced
from nur.ports.desk import RESERVATION_SECONDS, CommittedChange, HitRecord, IdempotencyRecord, Session
from nur.ports.ledger import PageCursor
from tests.ledger_notes import EMBEDDING, a_note, creation, description, replacement, vector_of

if TYPE_CHECKING:
    from nur.adapters.in_memory.clock import ManualClock
    from nur.domain.notes import Note
    from nur.ports.ledger import Ledger
    from tests.ledger_stores import Store

OTHER = "test:other:3"
MINUTE = 60.0


async def kept(ledger: Ledger, text: str = "Tea.", **meta: Any) -> Note:
    note = a_note(text, **meta)
    return (await ledger.write(creation(note, text))).note


async def existing(ledger: Ledger, note: Note) -> Note:
    found = await ledger.note(note.tenant, note.public_id)
    assert found is not None
    return found


async def test_a_lease_that_is_renewed_is_nobody_elses(ledger: Ledger, clock: ManualClock) -> None:
    await kept(ledger)
    jobs = await ledger.lease("first", 10, clock.now(), MINUTE)
    clock.advance(50)
    await ledger.renew(jobs, clock.now() + timedelta(seconds=MINUTE))
    clock.advance(50)
    assert await ledger.lease("second", 10, clock.now(), MINUTE) == []


async def test_a_worker_whose_lease_ran_out_has_no_say(ledger: Ledger, clock: ManualClock) -> None:
    await kept(ledger)
    late = await ledger.lease("first", 10, clock.now(), MINUTE)
    clock.advance(MINUTE)
    taken = await ledger.lease("second", 10, clock.now(), MINUTE)
    assert [job.job_id for job in taken] == [job.job_id for job in late]

    await ledger.renew(late, clock.now() + timedelta(days=1))
    await ledger.postpone(late[0], "too late", clock.now() + timedelta(days=1))
    await ledger.finish(late[0], clock.now())
    assert (await ledger.backlog(clock.now())).pending == 1
    assert (await ledger.backlog(clock.now())).last_error is None

    await ledger.finish(taken[0], clock.now())
    assert (await ledger.backlog(clock.now())).pending == 0


async def test_dead_letters_are_named_and_can_be_tried_again(ledger: Ledger, clock: ManualClock) -> None:
    note = await kept(ledger)
    (job,) = await ledger.lease("w", 10, clock.now(), MINUTE)
    await ledger.postpone(job, "refused", None)
    (letter,) = await ledger.dead_letters(10)
    assert (letter.note_id, letter.public_id, letter.revision) == (note.note_id, note.public_id, 1)
    assert (letter.attempts, letter.error) == (1, "refused")
    assert await ledger.lease("w", 10, clock.now(), MINUTE) == []

    assert await ledger.retry_dead(clock.now()) == 1
    assert await ledger.dead_letters(10) == []
    (again,) = await ledger.lease("w", 10, clock.now(), MINUTE)
    assert again.attempts == 0


async def test_the_error_told_is_that_of_a_dead_letter(ledger: Ledger, clock: ManualClock) -> None:
    await kept(ledger, "Dead.")
    (dead,) = await ledger.lease("one", 9, clock.now(), MINUTE)
    await ledger.postpone(dead, "too long", None)
    await kept(ledger, "Waits.")
    (waits,) = await ledger.lease("one", 9, clock.now(), MINUTE)
    await ledger.postpone(waits, "provider down", clock.now() + timedelta(seconds=9))
    assert (await ledger.backlog(clock.now())).last_error == "too long"


async def test_a_job_is_due_until_it_is_done_or_put_off(ledger: Ledger, clock: ManualClock) -> None:
    await kept(ledger, "Tea.")
    await kept(ledger, "Milk.")
    assert await ledger.count_due(clock.now()) == 2
    one, other = await ledger.lease("w", 10, clock.now(), MINUTE)
    assert await ledger.count_due(clock.now()) == 2
    await ledger.finish(one, clock.now())
    await ledger.postpone(other, "down", clock.now() + timedelta(seconds=5))
    assert await ledger.count_due(clock.now()) == 0


async def test_done_rows_are_purged_and_open_ones_stay(ledger: Ledger, clock: ManualClock) -> None:
    await kept(ledger, "Tea.")
    (job,) = await ledger.lease("w", 1, clock.now(), MINUTE)
    await ledger.finish(job, clock.now())
    clock.advance(10)
    await kept(ledger, "Milk.")
    assert await ledger.purge_done(clock.now() - timedelta(seconds=20)) == 0
    assert await ledger.purge_done(clock.now()) == 1
    assert (await ledger.backlog(clock.now())).pending == 1


async def test_a_note_is_indexed_when_every_chunk_is_at_its_revision(ledger: Ledger) -> None:
    note = await kept(ledger)
    assert not await ledger.is_indexed(note.note_id)
    assert await ledger.mark_indexed(note.note_id, note.revision)
    assert await ledger.is_indexed(note.note_id)
    moved = (await ledger.write(description(note, title="Tea"))).note
    assert not await ledger.is_indexed(note.note_id)
    gone = await ledger.remove(moved, action="delete", principal="ann", indexed=True)
    assert await ledger.is_indexed(gone.note_id)


async def test_vectors_outlive_a_change_of_metadata_alone(store: Store) -> None:
    ledger = store.ledger
    written = await ledger.write(creation(a_note(), embedded=False))
    late = {written.chunk_keys[0]: vector_of("late")}
    await ledger.write(description(written.note, title="Tea"))
    await ledger.attach_vectors(written.note, late, vector_of("pooled"), EMBEDDING)
    assert await ledger.missing_vectors(written.note.note_id, EMBEDDING) == []
    assert store.pooled(written.note.note_id) is not None


async def test_a_filled_index_closes_the_rows_of_complete_notes(ledger: Ledger, clock: ManualClock) -> None:
    complete = await kept(ledger, "Tea.")
    bare = (await ledger.write(creation(a_note("Milk."), "Milk.", embedded=False))).note
    assert await ledger.count_missing(EMBEDDING) == 1
    assert await ledger.mark_all_indexed(EMBEDDING, clock.now()) == 1
    assert await ledger.is_indexed(complete.note_id)
    assert not await ledger.is_indexed(bare.note_id)
    assert [job.note_id for job in await ledger.lease("w", 10, clock.now(), MINUTE)] == [bare.note_id]


async def test_own_vectors_and_previews_are_read_in_bulk(ledger: Ledger) -> None:
    tea = await kept(ledger, "Tea is drunk at four.")
    bare = (await ledger.write(creation(a_note("Milk."), "Milk.", embedded=False))).note
    ids = [tea.note_id, bare.note_id]
    assert (await ledger.pooled(ids, EMBEDDING)).keys() == {tea.note_id}
    assert await ledger.pooled(ids, OTHER) == {}
    assert await ledger.previews(ids, 3) == {tea.note_id: "Tea", bare.note_id: "Mil"}


async def test_every_active_note_of_every_tenant_is_paged_through(ledger: Ledger) -> None:
    notes = [await kept(ledger, f"Text {i}.", tenant="acme" if i % 2 else "default") for i in range(5)]
    await ledger.remove(notes.pop(), action="delete", principal="ann", indexed=True)
    first = await ledger.all_notes(None, 3)
    rest = await ledger.all_notes(first[-1].note_id, 3)
    assert [note.note_id for note in [*first, *rest]] == sorted(note.note_id for note in notes)


async def test_expired_notes_are_found_from_their_second_on(ledger: Ledger, clock: ManualClock) -> None:
    note = await kept(ledger, "Tea.", expires_at=clock.now() + timedelta(seconds=5))
    await kept(ledger, "Milk.")
    assert await ledger.expired(clock.now() + timedelta(seconds=4), 10) == []
    assert [n.note_id for n in await ledger.expired(clock.now() + timedelta(seconds=5), 10)] == [note.note_id]


async def test_a_purged_note_leaves_nothing(store: Store, clock: ManualClock) -> None:
    ledger = store.ledger
    note = await kept(ledger, "Tea.")
    note = (await ledger.write(replacement(note, "Coffee."))).note
    await ledger.record_hits([HitRecord("default", "ann", uuid4(), note.note_id, None, 1)], clock.now())
    gone = await ledger.remove(note, action="delete", principal="ann", indexed=True)
    clock.advance(10)
    assert await ledger.trash(clock.now() - timedelta(seconds=10), 10) == []
    assert [n.note_id for n in await ledger.trash(clock.now(), 10)] == [note.note_id]

    with pytest.raises(Conflict):
        await ledger.purge(note, principal="ann", indexed=True)
    await ledger.purge(gone, principal="ann", indexed=True)
    await ledger.scrub()
    assert await ledger.note(note.tenant, note.public_id) is None
    assert await ledger.texts([note.note_id]) == {}
    assert store.former_texts(note.note_id) == {}
    assert await ledger.hit_counts([note.note_id]) == {}
    assert store.audit()[-1][1] == "purge"


@pytest.mark.parametrize(
    ("kind", "keeps_its_id"),
    [(Kind.MEMORY, True), (Kind.NOTE, True), (Kind.EVENT, True), (Kind.TURN, False), (Kind.ARTIFACT, False)],
)
async def test_the_audit_log_keeps_a_purged_notes_id_only_if_it_tells_nothing(
    store: Store, kind: Kind, keeps_its_id: bool
) -> None:
    ledger = store.ledger
    other = await kept(ledger, "Milk.", kind=kind, conversation_id="dairy", turn_index=0)
    note = await kept(ledger, "Tea.", kind=kind, conversation_id="secret", turn_index=0)
    gone = await ledger.remove(note, action="delete", principal="ann", indexed=True)
    await ledger.purge(gone, principal="ann", indexed=True)
    name = note.public_id if keeps_its_id else None
    told = [(action, public_id) for _, action, public_id, _ in store.audit()]
    assert told == [("store", other.public_id), ("store", name), ("delete", name), ("purge", name)]


async def test_an_active_note_can_be_purged_and_the_index_hears_of_it(ledger: Ledger, clock: ManualClock) -> None:
    note = (await ledger.write(creation(a_note(), indexed=True))).note
    await ledger.purge(note, principal="ann", indexed=False)
    (job,) = await ledger.lease("w", 10, clock.now(), MINUTE)
    assert (job.note_id, job.revision) == (note.note_id, 2)
    assert (await ledger.corpus(["tea"])).chunks == 0
    assert (await ledger.write(creation(replace(note, note_id=a_note().note_id)))).note.public_id == note.public_id


async def test_vectors_of_two_versions_stand_beside_each_other(ledger: Ledger, clock: ManualClock) -> None:
    note = (await ledger.write(creation(a_note(), indexed=True))).note
    (stored,) = await ledger.missing_vectors(note.note_id, OTHER)
    await ledger.attach_vectors(note, {stored.chunk_key: np.ones(3, np.float32)}, np.ones(3, np.float32), OTHER)
    assert await ledger.vector_counts() == {EMBEDDING: 1, OTHER: 1}

    await ledger.set_fact("embedding_version", EMBEDDING)
    await ledger.switch_embedding(OTHER, clock.now())
    assert await ledger.fact("embedding_version") == OTHER
    assert not await ledger.is_indexed(note.note_id)
    assert len(await ledger.lease("w", 10, clock.now(), MINUTE)) == 1

    assert await ledger.drop_vectors(EMBEDDING) == 1
    assert await ledger.vector_counts() == {OTHER: 1}
    assert await ledger.pooled([note.note_id], EMBEDDING) == {}
    assert (await ledger.pooled([note.note_id], OTHER)).keys() == {note.note_id}


async def test_a_listing_goes_on_from_a_place_that_is_gone(ledger: Ledger, clock: ManualClock) -> None:
    notes = []
    for i in range(4):
        notes.append(await kept(ledger, f"Text {i}.", ingested_at=clock.now()))
        clock.advance(1)
    first = await ledger.notes(NoteFilter(), limit=2)
    last = first[-1]
    gone = await ledger.remove(await existing(ledger, last), action="delete", principal="ann", indexed=True)
    await ledger.purge(gone, principal="ann", indexed=True)
    rest = await ledger.notes(NoteFilter(), limit=9, after=PageCursor(last.ingested_at, last.note_id))
    assert [n.note_id for n in [*first, *rest]] == [n.note_id for n in reversed(notes)]


async def test_an_idempotency_key_is_claimed_once_and_its_answer_kept(ledger: Ledger, clock: ManualClock) -> None:
    assert await ledger.reserve_key("default", "k", "hash", "trace", clock.now()) is None
    assert await ledger.reserve_key("default", "k", "hash", "trace", clock.now()) == IdempotencyRecord(
        "hash", None, None
    )
    assert (
        await ledger.reserve_key("acme", "k", "hash", "trace", clock.now()) is None
    )  # another tenant's key is another key
    await ledger.save_response("default", "k", 201, {"note_id": "note_1"})
    await ledger.release_key("default", "k")
    assert await ledger.reserve_key("default", "k", "other", "trace", clock.now()) == IdempotencyRecord(
        "hash", 201, {"note_id": "note_1"}
    )


async def test_a_failed_or_forgotten_claim_is_free_again(ledger: Ledger, clock: ManualClock) -> None:
    assert await ledger.reserve_key("default", "k", "hash", "trace", clock.now()) is None
    await ledger.release_key("default", "k")
    assert await ledger.reserve_key("default", "k", "hash", "trace", clock.now()) is None
    clock.advance(RESERVATION_SECONDS)
    assert await ledger.reserve_key("default", "k", "hash", "trace", clock.now()) is None


async def test_a_call_that_died_after_its_write_is_known_by_what_it_committed(
    ledger: Ledger, clock: ManualClock
) -> None:
    with traced("call"):
        await ledger.reserve_key("default", "k", "hash", "call", clock.now())
        note = await kept(ledger)
    await kept(ledger, "Another call's.")
    await ledger.release_key("default", "k")  # it is done, whatever came after
    assert await ledger.reserve_key("default", "k", "hash", "again", clock.now()) == IdempotencyRecord(
        "hash", None, None
    )
    clock.advance(RESERVATION_SECONDS)
    committed = CommittedChange(note.public_id, "store", 1)
    assert await ledger.reserve_key("default", "k", "hash", "again", clock.now()) == IdempotencyRecord(
        "hash", None, None, committed
    )
    await ledger.save_response("default", "k", 201, {"note_id": note.public_id})
    answered = IdempotencyRecord("hash", 201, {"note_id": note.public_id})
    assert await ledger.reserve_key("default", "k", "hash", "again", clock.now()) == answered


async def test_a_search_is_kept_for_its_tenant_until_the_desk_is_cleared(ledger: Ledger, clock: ManualClock) -> None:
    session = Session(uuid4(), "default", "ann", {"payload": "l1"}, {"items": [{"chunk": 1}]}, clock.now())
    await ledger.put_session(session)
    assert await ledger.session("default", session.search_id) == session
    assert await ledger.session("acme", session.search_id) is None
    assert await ledger.clear_desk(clock.now()) == 0
    assert await ledger.clear_desk(clock.now() + timedelta(seconds=1)) == 1
    assert await ledger.session("default", session.search_id) is None


async def test_hits_are_counted_by_note(ledger: Ledger, clock: ManualClock) -> None:
    tea, milk = await kept(ledger, "Tea."), await kept(ledger, "Milk.")
    unknown = a_note("Gone.")
    hits = [HitRecord("default", "ann", uuid4(), note.note_id, None, 1) for note in (tea, tea, unknown)]
    await ledger.record_hits(hits, clock.now())
    counts = await ledger.hit_counts([tea.note_id, milk.note_id, unknown.note_id])
    assert counts == {tea.note_id: 2}
