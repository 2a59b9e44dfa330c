"""Contract of ChangeLog: lists every change of a note, in order, without gaps."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from nur.domain.changes import Change, ChangeKind
from tests.store_notes import ALL, a_note, after, at, creation, description, remove, replacement, write

if TYPE_CHECKING:
    from nur.ports.stores import Stores


async def everything(stores: Stores) -> list[Change]:
    last = await stores.changes.settled(ALL.tenant, 0)
    return await stores.changes.page(ALL.tenant, 0, last, limit=1000)


async def test_a_life_is_recorded_step_by_step(stores: Stores) -> None:
    note = await write(stores, creation(a_note("Tea."), "Tea."))
    note = await write(stores, description(note, title="Tea"))
    note = await write(stores, replacement(note, "Milk."))
    note = await remove(stores, note)
    await stores.notes.purge(note, at(), indexed=True)
    kinds = [one.kind for one in await everything(stores)]
    assert kinds == [
        ChangeKind.CREATED,
        ChangeKind.EDITED,
        ChangeKind.REPLACED,
        ChangeKind.DELETED,
        ChangeKind.PURGED,
    ]


async def test_texts_before_and_after_are_there(stores: Stores) -> None:
    note = await write(stores, creation(a_note("Tea."), "Tea."))
    note = await write(stores, replacement(note, "Milk."))
    found = await stores.changes.texts([(note.note_id, 1), (note.note_id, 2), (note.note_id, 3)], 3)
    assert found == {(note.note_id, 1): "Tea", (note.note_id, 2): "Mil"}


async def test_nothing_of_another_tenant_is_there(stores: Stores) -> None:
    await write(stores, creation(a_note("Tea.", tenant="other"), "Tea."))
    assert await everything(stores) == []
    assert await stores.changes.settled(ALL.tenant, 0) == 0


async def test_changes_of_a_stretch_of_time(stores: Stores) -> None:
    for second in range(4):
        text = f"Tea {second}."
        await stores.notes.write(creation(a_note(text), text), at(after(second)))
    last = await stores.changes.settled(ALL.tenant, 0)
    found = await stores.changes.page(ALL.tenant, 0, last, limit=10, since=after(1), until=after(3))
    assert [one.at for one in found] == [after(1), after(2)]


async def test_a_reader_beside_many_writers_skips_nothing(stores: Stores) -> None:
    texts = [f"Tea number {number}." for number in range(40)]
    seen: list[str | None] = []
    position = 0
    writers = asyncio.gather(*(stores.notes.write(creation(a_note(text), text), at()) for text in texts))
    while not writers.done() or position < await stores.changes.settled(ALL.tenant, position):
        last = await stores.changes.settled(ALL.tenant, position)
        page = await stores.changes.page(ALL.tenant, position, last, limit=1000)
        seen += [one.public_id for one in page]
        position = last
        await asyncio.sleep(0)
    await writers
    assert len(seen) == len(set(seen)) == len(texts)


async def test_the_latest_changes_come_first_on_request(stores: Stores) -> None:
    for number in range(3):
        await write(stores, creation(a_note(f"Tea {number}."), f"Tea {number}."))
    kept = await everything(stores)
    found = await stores.changes.page(ALL.tenant, 0, kept[-1].position, limit=2, newest_first=True)
    assert found == kept[:0:-1]
