"""Contract of Archive: exports and imports complete notes unchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nur.domain.archive import ArchivedNote, NoteVersion
from nur.domain.chunks import sha256
from nur.domain.errors import Conflict
from nur.domain.notes import Note, Status
from tests.store_notes import START, a_note, after, at, creation, current, remove, replacement, store, write

if TYPE_CHECKING:
    from nur.ports.stores import Stores
    from tests.store_backends import StoreBackend

MANY = 1_000_000


async def everything(stores: Stores, limit: int = 100, characters: int = MANY) -> list[ArchivedNote]:
    found: list[ArchivedNote] = []
    last = None
    while page := await stores.archive.page("default", last, limit=limit, characters=characters):
        found += page
        last = page[-1].note.note_id
    return found


def a_version(version: int, text: str) -> NoteVersion:
    return NoteVersion(version=version, content_hash=sha256(text), title="Old", replaced_at=START, text=text)


def put(stores: Stores, note: Note, text: str, *versions: NoteVersion, replaces: int | None = None) -> Any:
    given = replace(creation(note, text), replaces=replaces, action="import")
    if note.status is Status.DELETED:
        given = replace(given, chunks=(), pooled=None)
    return stores.archive.put(given, versions, at(after(60)))


async def test_a_page_has_active_and_deleted_notes_with_their_texts(stores: Stores) -> None:
    kept = await store(stores, "Tea is drunk at four.")
    replaced = await write(stores, replacement(await store(stores, "First."), "Second."), after(5))
    gone = await remove(stores, await store(stores, "Coffee."))
    expected = sorted([kept, replaced, gone], key=lambda note: note.note_id.hex)
    for limit in (1, 2, 100):
        found = await everything(stores, limit)
        assert [one.note for one in found] == expected
    texts = {one.note.note_id: (one.text, [old.text for old in one.versions]) for one in found}
    assert texts[kept.note_id] == ("Tea is drunk at four.", [])
    assert texts[replaced.note_id] == ("Second.", ["First."])
    assert texts[gone.note_id] == ("Coffee.", [])


async def test_a_page_ends_where_its_texts_are_long_enough(stores: Stores) -> None:
    for number in range(4):
        await store(stores, f"{number} " + "x" * 100)
    page = await stores.archive.page("default", None, limit=100, characters=150)
    assert len(page) == 2
    assert len(await everything(stores, characters=1)) == 4  # one note at least, however long


async def test_a_page_is_of_one_tenant(stores: Stores) -> None:
    await stores.notes.write(creation(a_note(tenant="other")), at(tenant="other"))
    assert await everything(stores) == []


async def test_a_note_is_put_as_it_was_elsewhere(stores: Stores, store_backend: StoreBackend) -> None:
    note = a_note("Now.", version=3, revision=7, ingested_at=after(-90), updated_at=after(-5), owner="ann")
    await put(stores, note, "Now.", a_version(1, "First."), a_version(2, "Second."))
    (found,) = await everything(stores)
    assert found == ArchivedNote(await current(stores, note), "Now.", (a_version(1, "First."), a_version(2, "Second.")))
    assert replace(found.note, meta=note.meta) == note
    assert store_backend.audit()[-1].action == "import"
    assert store_backend.previous_texts(note.note_id) == {1: "First.", 2: "Second."}


async def test_a_deleted_note_is_put_into_the_trash(stores: Stores) -> None:
    note = a_note(status=Status.DELETED, deleted_at=START, revision=2)
    await put(stores, note, "Tea is drunk at four.")
    assert [found.note_id for found in await stores.notes.trash(after(1), 10)] == [note.note_id]
    assert await stores.chunks.of_note(note.note_id) == []


async def test_put_replaces_text_chunks_and_previous_texts(stores: Stores) -> None:
    existing = await write(stores, replacement(await store(stores, "First."), "Mine."), after(5))
    newer = replace(existing, content_hash=sha256("Theirs."), revision=9, version=4)
    await put(stores, newer, "Theirs.", a_version(3, "Third."), replaces=existing.revision)
    (found,) = await everything(stores)
    assert (found.text, [old.text for old in found.versions]) == ("Theirs.", ["Third."])
    assert [one.chunk.content for one in await stores.chunks.of_note(existing.note_id)] == ["Theirs."]


async def test_put_on_another_revision_changes_nothing(stores: Stores) -> None:
    existing = await store(stores, "Mine.")
    with pytest.raises(Conflict):
        await put(stores, replace(existing, revision=9), "Theirs.", a_version(1, "Old."), replaces=5)
    (found,) = await everything(stores)
    assert (found.text, found.versions) == ("Mine.", ())


async def test_previous_texts_are_listed_newest_first_and_read_one_by_one(stores: Stores) -> None:
    note = await store(stores, "One.", title="Numbers")
    for number, text in enumerate(("Two!!", "Three"), start=1):
        note = await write(stores, replacement(note, text), after(number))
    listed = await stores.archive.versions(note.note_id)
    assert [(one.version, one.title, one.replaced_at, one.characters) for one in listed] == [
        (2, "Numbers", after(2), 5),
        (1, "Numbers", after(1), 4),
    ]
    found = await stores.archive.version(note.note_id, 1)
    assert found is not None
    assert (found.text, found.content_hash) == ("One.", sha256("One."))
    assert await stores.archive.version(note.note_id, 3) is None
