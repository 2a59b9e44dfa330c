"""Contract of NoteStore: rejects duplicate identities, stale revisions and public ids in use."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from nur.domain.errors import Conflict
from nur.domain.kinds import identity_of
from nur.domain.notes import Kind
from nur.ports.notes import Written
from tests.store_notes import (
    ALL,
    START,
    a_note,
    at,
    creation,
    current,
    description,
    remove,
    replacement,
    store,
    write,
)
from tests.store_queries import everything

if TYPE_CHECKING:
    from nur.ports.stores import Stores
    from tests.store_backends import StoreBackend

DAY = timedelta(days=1)


SAME_IDENTITY = [
    ({"kind": Kind.MEMORY}, {"kind": Kind.MEMORY}),  # the same text
    ({"kind": Kind.TURN, "conversation_id": "c", "turn_index": 0},) * 2,
    ({"kind": Kind.ARTIFACT, "source_system": "gmail", "source_id": "1"},) * 2,
    ({"kind": Kind.ARTIFACT, "source_id": "1"},) * 2,  # no system: None is one name, not many
    ({"kind": Kind.NOTE, "key": "k", "scope": "s"},) * 2,
    ({"kind": Kind.NOTE, "source_system": "github", "source_id": "1"},) * 2,
]
OTHER_IDENTITY = [
    ({"kind": Kind.NOTE, "key": "k"}, {"kind": Kind.EVENT, "key": "k"}),  # a key is a name within its kind
    ({"kind": Kind.NOTE, "source_id": "1"}, {"kind": Kind.ARTIFACT, "source_id": "1"}),  # so is a source
    ({"kind": Kind.NOTE, "source_id": "1", "key": "k"}, {"kind": Kind.NOTE, "source_id": "1", "key": "l"}),
    (
        {"kind": Kind.EVENT, "source_id": "1", "occurred_at": START},
        {"kind": Kind.EVENT, "source_id": "1", "occurred_at": START.replace(hour=1)},
    ),
    ({"kind": Kind.MEMORY}, {"kind": Kind.NOTE}),
    ({"kind": Kind.MEMORY}, {"kind": Kind.MEMORY, "owner": "bob"}),
    ({"kind": Kind.MEMORY}, {"kind": Kind.MEMORY, "tenant": "acme"}),
    (
        {"kind": Kind.TURN, "conversation_id": "c", "turn_index": 0},
        {"kind": Kind.TURN, "conversation_id": "c", "turn_index": 1},
    ),
    (
        {"kind": Kind.ARTIFACT, "source_system": "a", "source_id": "b:c"},
        {"kind": Kind.ARTIFACT, "source_system": "a:b", "source_id": "c"},  # the parts are kept apart
    ),
    ({"kind": Kind.NOTE, "key": "k"}, {"kind": Kind.NOTE, "key": "k", "project": "p"}),
    # A key names notes, memories and events; on an artifact or a turn it is only a label.
    ({"kind": Kind.NOTE, "key": "k"}, {"kind": Kind.ARTIFACT, "source_id": "1", "key": "k"}),
    ({"kind": Kind.TURN, "conversation_id": "c", "turn_index": 0, "key": "k"}, {"kind": Kind.NOTE, "key": "k"}),
]


@pytest.mark.parametrize(("first", "second"), SAME_IDENTITY)
async def test_an_identity_belongs_to_one_active_note(
    stores: Stores, store_backend: StoreBackend, first: dict[str, Any], second: dict[str, Any]
) -> None:
    await store(stores, **first)
    before = await everything(stores, store_backend)

    with pytest.raises(Conflict):
        await store(stores, **second)

    assert await everything(stores, store_backend) == before


@pytest.mark.parametrize(("first", "second"), OTHER_IDENTITY)
async def test_notes_of_different_identities_live_side_by_side(
    stores: Stores, first: dict[str, Any], second: dict[str, Any]
) -> None:
    notes = [await store(stores, **changes) for changes in (first, second)]
    assert [await stores.notes.by_identity(note.tenant, identity_of(note)) for note in notes] == notes


async def test_an_identity_is_free_again_when_its_note_is_in_the_trash(stores: Stores) -> None:
    gone = await remove(stores, await store(stores))
    new = await store(stores)
    assert identity_of(new) == identity_of(gone)

    with pytest.raises(Conflict):  # the first one cannot be restored while another has its identity
        await write(stores, replacement(gone, "Tea is drunk at four."))


async def test_a_note_cannot_take_another_notes_identity(stores: Stores, store_backend: StoreBackend) -> None:
    await store(stores, "Tea.")
    other = await store(stores, "Coffee.")
    before = await everything(stores, store_backend)

    with pytest.raises(Conflict):
        await write(stores, replacement(other, "Tea."))

    assert await everything(stores, store_backend) == before


async def test_a_public_id_is_never_used_twice_not_even_after_its_note_was_deleted(
    stores: Stores, store_backend: StoreBackend
) -> None:
    await remove(stores, await store(stores, public_id="mem_1"))
    before = await everything(stores, store_backend)

    with pytest.raises(Conflict):
        await store(stores, "Coffee.", public_id="mem_1")

    assert await everything(stores, store_backend) == before
    await store(stores, "Coffee.", public_id="mem_1", tenant="acme")


async def test_a_stale_write_is_refused_and_changes_nothing(stores: Stores, store_backend: StoreBackend) -> None:
    old = await store(stores)
    new = await write(stores, replacement(old, "Tea is drunk at five."))
    before = await everything(stores, store_backend)

    for stale in (replacement(old, "Coffee."), description(old, title="Coffee"), creation(old)):
        with pytest.raises(Conflict):
            await stores.notes.write(stale, at())
    with pytest.raises(Conflict):
        await remove(stores, old)
    with pytest.raises(Conflict):
        await stores.notes.purge(old, at(), indexed=False)
    with pytest.raises(Conflict):
        await stores.notes.write(replacement(a_note(revision=new.revision), "No such note."), at())

    assert await everything(stores, store_backend) == before


async def test_of_sixteen_writers_of_one_identity_exactly_one_wins(stores: Stores, store_backend: StoreBackend) -> None:
    rivals = [a_note(kind=Kind.ARTIFACT, source_system="s", source_id="1") for _ in range(16)]
    writes = (stores.notes.write(creation(rival), at()) for rival in rivals)

    results = await asyncio.gather(*writes, return_exceptions=True)

    (winner,) = [rival for rival, result in zip(rivals, results, strict=True) if isinstance(result, Written)]
    assert [type(result) for result in results].count(Conflict) == 15
    assert await stores.notes.page(ALL, START, limit=20) == [await current(stores, winner)]
    assert (await stores.chunks.statistics(["tea"])).frequencies["tea"].pieces == 1
    assert len(store_backend.audit()) == 1


async def test_of_sixteen_changes_of_one_revision_exactly_one_wins(stores: Stores) -> None:
    note = await store(stores)
    changes = (stores.notes.write(replacement(note, f"Text {i}."), at()) for i in range(16))

    results = await asyncio.gather(*changes, return_exceptions=True)

    assert [type(result) for result in results].count(Conflict) == 15
    (number,) = [i for i, result in enumerate(results) if isinstance(result, Written)]
    assert await stores.notes.texts([note.note_id]) == {note.note_id: f"Text {number}."}
    assert (await current(stores, note)).revision == 2


async def test_different_notes_written_at_once_are_all_kept(stores: Stores) -> None:
    texts = [f"Text {i}." for i in range(100)]
    await asyncio.gather(*(stores.notes.write(creation(a_note(text, pieces=2), text), at()) for text in texts))

    notes = await stores.notes.page(ALL, START, limit=200)
    assert sorted((await stores.notes.texts([n.note_id for n in notes])).values()) == sorted(texts)
    assert (await stores.chunks.statistics()).chunks == 200
    assert (await stores.outbox.backlog(START)).pending == 100
