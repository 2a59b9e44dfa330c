"""Contract of DerivationStore: derived rows live as long as the text they come from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nur.domain.derivations import FingerprintBand
from nur.domain.errors import Conflict
from nur.domain.notes import Kind
from nur.ports.outbox import Task
from tests.store_backends import DerivedAt
from tests.store_notes import (
    ALL,
    DERIVER,
    START,
    a_derivation,
    a_note,
    after,
    at,
    creation,
    description,
    remove,
    replacement,
    write,
)

if TYPE_CHECKING:
    from nur.domain.notes import Note, NoteId
    from nur.ports.stores import Stores
    from tests.store_backends import StoreBackend


def bands(*words: str) -> set[int]:
    return {row.band_hash for row in a_derivation(*words).rows if isinstance(row, FingerprintBand)}


async def derived(stores: Stores, text: str = "Tea.", *words: str, **changes: Any) -> Note:
    """A new note from which these words are derived."""
    return await write(stores, replace(creation(a_note(text, **changes), text), derived=[a_derivation(*words)]))


async def queued(stores: Stores) -> list[tuple[NoteId, int]]:
    jobs = await stores.outbox.lease("w", 100, START, 60)
    return [(job.note_id, job.revision) for job in jobs if job.task is Task.DERIVE]


# Rows


async def test_a_write_stores_what_is_derived_from_its_text(stores: Stores, store_backend: StoreBackend) -> None:
    note = await derived(stores, "Tea.", "tea", "four")
    assert store_backend.derived() == {note.note_id: DerivedAt(1, 1, bands("tea", "four"))}
    assert await queued(stores) == []


async def test_a_text_with_no_rows_counts_as_derived(stores: Stores, store_backend: StoreBackend) -> None:
    note = await derived(stores, "!")
    assert store_backend.derived() == {note.note_id: DerivedAt(1, 1, set())}
    assert await stores.derivations.queue_outdated({DERIVER: 1}, START) == 0


async def test_another_text_takes_the_rows_of_the_previous_one(stores: Stores, store_backend: StoreBackend) -> None:
    note = await derived(stores, "Tea.", "tea")
    await write(stores, replacement(note, "Milk."))
    assert store_backend.derived() == {}


async def test_other_metadata_keeps_the_rows_but_for_those_derived_again(
    stores: Stores, store_backend: StoreBackend
) -> None:
    note = await write(stores, description(await derived(stores, "Tea.", "tea"), title="Tea"))
    assert store_backend.derived() == {note.note_id: DerivedAt(2, 1, bands("tea"))}

    note = await write(stores, replace(description(note, title="Milk"), derived=[a_derivation("milk")]))
    assert store_backend.derived() == {note.note_id: DerivedAt(3, 1, bands("milk"))}


async def test_the_trash_and_a_purge_leave_no_rows(stores: Stores, store_backend: StoreBackend) -> None:
    trashed, purged = await derived(stores, "Tea.", "tea"), await derived(stores, "Milk.", "milk")
    await remove(stores, trashed)
    await stores.derivations.queue(START)
    await stores.notes.purge(purged, at(), indexed=True)

    assert store_backend.derived() == {}
    assert await queued(stores) == []  # no job names what was purged


async def test_a_restored_note_has_what_its_restoring_write_derived(
    stores: Stores, store_backend: StoreBackend
) -> None:
    gone = await remove(stores, await derived(stores, "Tea.", "tea"))
    note = await write(stores, replace(replacement(gone, "Tea."), derived=[a_derivation("tea")]))
    assert store_backend.derived() == {note.note_id: DerivedAt(3, 1, bands("tea"))}


async def test_rows_are_replaced_at_the_revision_they_were_derived_from(
    stores: Stores, store_backend: StoreBackend
) -> None:
    note = await derived(stores, "Tea.", "tea")
    await stores.derivations.put(note, [a_derivation("tea", "four", version=2)], after(1))
    assert store_backend.derived() == {note.note_id: DerivedAt(1, 2, bands("tea", "four"))}

    await write(stores, description(note, title="Tea"))
    with pytest.raises(Conflict):
        await stores.derivations.put(note, [a_derivation("late")], after(2))
    assert store_backend.derived() == {note.note_id: DerivedAt(2, 2, bands("tea", "four"))}


async def test_nothing_is_put_under_a_note_that_is_gone(stores: Stores, store_backend: StoreBackend) -> None:
    gone = await remove(stores, await derived(stores))
    for absent in (gone, a_note()):
        with pytest.raises(Conflict):
            await stores.derivations.put(absent, [a_derivation("tea")], START)
    assert store_backend.derived() == {}


# Jobs


async def test_a_write_whose_deriver_failed_is_queued(stores: Stores) -> None:
    note = await write(stores, replace(creation(a_note()), is_derived=False))
    assert await queued(stores) == [(note.note_id, 1)]


async def test_every_active_note_can_be_queued_again(stores: Stores, store_backend: StoreBackend) -> None:
    note = await derived(stores, "Tea.", "tea")
    await remove(stores, await derived(stores, "Milk."))
    assert await stores.derivations.queue(START) == 1
    assert await queued(stores) == [(note.note_id, 1)]
    assert note.note_id in store_backend.derived()  # until it is replaced


async def test_only_notes_without_rows_of_the_current_version_are_outdated(stores: Stores) -> None:
    current = await derived(stores, "Tea.", "tea")
    without = await write(stores, creation(a_note("Milk."), "Milk."))
    assert await stores.derivations.queue_outdated({DERIVER: 1}, START) == 1
    assert await queued(stores) == [(without.note_id, 1)]

    assert await stores.derivations.queue_outdated({DERIVER: 2}, START) == 2
    assert {note_id for note_id, _ in await queued(stores)} == {current.note_id, without.note_id}


# Fingerprints


async def test_notes_that_share_most_bands_come_first(stores: Stores) -> None:
    one = await derived(stores, "one", "a", "b", "c")
    two = await derived(stores, "two", "a")
    three = await derived(stores, "three", "b", "c", "d")
    await derived(stores, "four", "d")

    assert await stores.fingerprints.similar(one.note_id, ALL, START, 10) == [three.note_id, two.note_id]
    assert await stores.fingerprints.similar(one.note_id, ALL, START, 1) == [three.note_id]


async def test_only_notes_that_pass_the_filter_are_similar(stores: Stores) -> None:
    one = await derived(stores, "one", "a")
    await derived(stores, "two", "a", tenant="acme")
    await derived(stores, "three", "a", expires_at=after(1))
    await derived(stores, "four", "a", kind=Kind.NOTE)
    await remove(stores, await derived(stores, "five", "a"))
    memories = replace(ALL, kinds=frozenset({Kind.MEMORY}))

    assert await stores.fingerprints.similar(one.note_id, memories, after(1), 10) == []
    assert len(await stores.fingerprints.similar(one.note_id, ALL, START, 10)) == 2


async def test_bands_of_another_version_are_not_compared(stores: Stores) -> None:
    one, two = await derived(stores, "one", "a"), await derived(stores, "two", "a")
    await stores.derivations.put(two, [a_derivation("a", version=2)], START)
    assert await stores.fingerprints.similar(one.note_id, ALL, START, 10) == []
