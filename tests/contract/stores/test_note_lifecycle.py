"""Contract of NoteStore: versions, metadata, trash, purge and expiry."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from nur.domain.errors import Conflict
from nur.domain.kinds import identity_of
from nur.domain.notes import Kind, Status
from nur.ports.notes import VERSIONS_KEPT
from nur.ports.search_log import HitRecord
from tests.store_notes import (
    ALL,
    EMBEDDING,
    START,
    a_note,
    a_turn,
    after,
    at,
    creation,
    current,
    description,
    remove,
    replacement,
    store,
    write,
)
from tests.store_queries import everything, found_by

if TYPE_CHECKING:
    from nur.ports.stores import Stores
    from tests.store_backends import StoreBackend

DAY = timedelta(days=1)


# Versions and metadata


async def test_a_replaced_text_is_found_no_more_and_kept_as_a_version(
    stores: Stores, store_backend: StoreBackend
) -> None:
    old = await store(stores, "Tea at four.", pieces=2)
    old_keys = [stored.chunk_key for stored in await stores.chunks.of_note(old.note_id)]

    keys = (await stores.notes.write(replacement(old, "Coffee at five.", pieces=3), at())).chunk_keys

    assert len(keys) == 3
    assert not set(keys) & set(old_keys)  # a key is never used twice
    assert await stores.vectors.of_chunks(old_keys, EMBEDDING) == {}
    assert await found_by(stores, "tea") == []
    assert set(await found_by(stores, "coffee")) == {old.note_id}
    assert await stores.notes.texts([old.note_id]) == {old.note_id: "Coffee at five."}
    assert store_backend.previous_texts(old.note_id) == {1: "Tea at four."}


async def test_the_last_twenty_previous_texts_are_kept(stores: Stores, store_backend: StoreBackend) -> None:
    note = await store(stores, "Text 1.")
    for version in range(2, 25):
        note = await write(stores, replacement(note, f"Text {version}."))

    assert VERSIONS_KEPT == 20
    assert store_backend.previous_texts(note.note_id) == {version: f"Text {version}." for version in range(4, 24)}


async def test_the_same_version_written_again_keeps_no_previous_text(
    stores: Stores, store_backend: StoreBackend
) -> None:
    note = await store(stores)
    again = replacement(note, "Tea is drunk at four.", pieces=3)  # cut another way: the text is the same
    await stores.notes.write(replace(again, note=replace(again.note, version=1)), at())

    assert store_backend.previous_texts(note.note_id) == {}
    assert len(await stores.chunks.of_note(note.note_id)) == 3


async def test_new_metadata_leaves_text_chunks_and_vectors_as_they_are(
    stores: Stores, store_backend: StoreBackend
) -> None:
    note = await store(stores, pieces=2)
    chunks = await stores.chunks.of_note(note.note_id)
    before = await everything(stores, store_backend)

    assert (await stores.notes.write(description(note, title="Tea", confidence=0.5), at())).chunk_keys == []

    expected = replace(note, meta=replace(note.meta, title="Tea", confidence=0.5), revision=2)
    assert await current(stores, note) == expected
    changed = await everything(stores, store_backend)
    for same in ("texts", "previous", "chunks", "statistics"):
        assert changed[same] == before[same]
    assert len(await stores.vectors.of_chunks([stored.chunk_key for stored in chunks], EMBEDDING)) == 2
    assert (await stores.vectors.of_notes([note.note_id], EMBEDDING)).keys() == {note.note_id}


# The trash


async def test_a_deleted_note_loses_everything_derived_from_it_and_keeps_its_text(stores: Stores) -> None:
    note = await store(stores, pieces=2)
    keys = [stored.chunk_key for stored in await stores.chunks.of_note(note.note_id)]

    gone = await remove(stores, note, after(60))

    assert gone == replace(note, status=Status.DELETED, revision=2, deleted_at=after(60), updated_at=after(60))
    assert await current(stores, note) == gone
    assert await stores.notes.by_identity("default", identity_of(note)) == gone
    assert await stores.notes.texts([note.note_id]) == {note.note_id: "Tea is drunk at four."}
    assert await stores.chunks.of_note(note.note_id) == []
    assert await stores.vectors.of_chunks(keys, EMBEDDING) == {}
    assert await stores.vectors.of_notes([note.note_id], EMBEDDING) == {}
    assert await found_by(stores, "tea") == []
    assert await stores.chunks.show(dict.fromkeys(keys, note.note_id), ALL, START) == {}
    assert await stores.notes.page(ALL, START, limit=5) == []
    statistics = await stores.chunks.statistics(["tea"])
    assert (statistics.chunks, statistics.terms, statistics.frequencies) == (0, 0, {})


async def test_a_note_is_restored_from_the_trash_under_its_own_id(stores: Stores, store_backend: StoreBackend) -> None:
    gone = await remove(stores, await store(stores))

    back = await write(stores, replacement(gone, "Coffee at five."))

    assert (back.note_id, back.public_id, back.status, back.revision) == (gone.note_id, gone.public_id, "active", 3)
    assert await found_by(stores, "coffee") == [gone.note_id]
    assert await found_by(stores, "tea") == []
    assert store_backend.previous_texts(gone.note_id) == {1: "Tea is drunk at four."}


async def test_the_active_note_of_an_identity_is_preferred_then_the_one_deleted_last(stores: Stores) -> None:
    notes = [await remove(stores, await store(stores), after(second)) for second in range(3)]
    identity = identity_of(notes[0])
    assert await stores.notes.by_identity("default", identity) == notes[-1]

    back = await write(stores, replacement(notes[0], "Tea is drunk at four."))

    assert identity_of(back) == identity
    assert await stores.notes.by_identity("default", identity) == back


async def test_notes_are_counted_by_kind_without_the_trash_and_other_tenants(stores: Stores) -> None:
    for text in ("One.", "Two."):
        await store(stores, text)
    await write(stores, creation(a_turn("chat", 0), "Three."))
    await remove(stores, await store(stores, "Four."))
    kind = (await store(stores, "Five.")).kind

    assert await stores.notes.count(ALL, START) == {kind: 3, Kind.TURN: 1}
    assert await stores.notes.count(replace(ALL, kinds=frozenset({Kind.TURN})), START) == {Kind.TURN: 1}
    assert await stores.notes.count(replace(ALL, tenant="other"), START) == {}


async def test_the_trash_lists_what_was_deleted_before_then_the_oldest_first(stores: Stores) -> None:
    late, early, later = [await store(stores, f"Text {i}.") for i in range(3)]
    for note, second in ((late, 2), (early, 1), (later, 3)):
        await remove(stores, note, after(second))

    assert await stores.notes.trash(after(1), 10) == []
    assert [note.note_id for note in await stores.notes.trash(after(3), 10)] == [early.note_id, late.note_id]
    assert [note.note_id for note in await stores.notes.trash(after(9), 1)] == [early.note_id]


async def test_a_purged_note_leaves_nothing(stores: Stores, store_backend: StoreBackend) -> None:
    note = await write(stores, replacement(await store(stores, "Tea."), "Coffee."))
    await stores.search_log.record_hits([HitRecord("default", "ann", uuid4(), note.note_id, None, 1)], START)
    gone = await remove(stores, note, indexed=True)

    with pytest.raises(Conflict):
        await stores.notes.purge(note, at(), indexed=True)
    await stores.notes.purge(gone, at(), indexed=True)
    await stores.scrub()

    assert await stores.notes.get(note.tenant, note.public_id) is None
    assert await stores.notes.texts([note.note_id]) == {}
    assert store_backend.previous_texts(note.note_id) == {}
    assert store_backend.opened() == []
    assert await stores.notes.trash(after(9), 10) == []
    assert store_backend.audit()[-1].action == "purge"


@pytest.mark.parametrize(
    ("kind", "keeps_its_id"),
    [(Kind.MEMORY, True), (Kind.NOTE, True), (Kind.EVENT, True), (Kind.TURN, False), (Kind.ARTIFACT, False)],
)
async def test_the_audit_log_keeps_a_purged_notes_id_only_if_it_tells_nothing(
    stores: Stores, store_backend: StoreBackend, kind: Kind, keeps_its_id: bool
) -> None:
    other = await store(stores, "Milk.", kind=kind, conversation_id="dairy", turn_index=0)
    note = await store(stores, "Tea.", kind=kind, conversation_id="secret", turn_index=0)

    await stores.notes.purge(await remove(stores, note), at(), indexed=True)

    name = note.public_id if keeps_its_id else None
    told = [(line.action, line.public_id) for line in store_backend.audit()]
    assert told == [("store", other.public_id), ("store", name), ("delete", name), ("purge", name)]


async def test_an_active_note_can_be_purged_and_the_index_gets_a_job(stores: Stores) -> None:
    note = await write(stores, creation(a_note(), indexed=True))

    await stores.notes.purge(note, at(), indexed=False)

    (job,) = await stores.outbox.lease("w", 10, START, 60)
    assert (job.note_id, job.revision) == (note.note_id, 2)
    assert (await stores.chunks.statistics(["tea"])).chunks == 0
    again = await write(stores, creation(replace(note, note_id=a_note().note_id)))
    assert again.public_id == note.public_id


async def test_expired_notes_are_listed_from_their_second_on(stores: Stores) -> None:
    note = await store(stores, "Tea.", expires_at=after(5))
    await store(stores, "Milk.")
    await remove(stores, await store(stores, "In the trash.", expires_at=after(5)))
    assert await stores.notes.expired(after(4.999999), 10) == []
    assert [each.note_id for each in await stores.notes.expired(after(5), 10)] == [note.note_id]
    assert await stores.notes.page(ALL, after(5), limit=9) != []
    assert await current(stores, note) == note  # by its id it is still found
