"""What importing a note does, and what it would do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from nur.domain.access import Caller, Principal
from nur.domain.archive import ArchivedNote, NewNote
from nur.domain.chunks import sha256
from nur.domain.errors import BadRequest
from nur.domain.notes import Kind, NoteId, NoteMetadata, Status
from nur.domain.writes import Protection
from nur.services.archive.import_note import ImportOutcome
from tests.callers import LOCAL_CALLER

if TYPE_CHECKING:
    from nur.domain.notes import Note
    from tests.note_world import World
    from tests.unit.services.conftest import OpenWorld

TEXT = "The lamp in the hall is green."


def a_new(text: str = TEXT, **meta: Any) -> NewNote:
    return NewNote(kind=Kind.NOTE, text=text, meta=NoteMetadata(**meta), stated=Protection())


def elsewhere(note: Note, text: str = TEXT, **changes: Any) -> ArchivedNote:
    """The note as another store has it."""
    return ArchivedNote(replace(note, content_hash=sha256(text), **changes), text)


async def imported(world: World, record: ArchivedNote | NewNote, *, dry_run: bool = False) -> ImportOutcome:
    return await world.services.import_notes.import_note(record, LOCAL_CALLER, dry_run=dry_run)


async def texts(world: World) -> list[str]:
    notes = await world.stores.notes.all(None, 100)
    return sorted((await world.stores.notes.texts([note.note_id for note in notes])).values())


async def test_a_new_note_is_created_once_and_its_other_text_updates_it(open_world: OpenWorld) -> None:
    world = await open_world()
    for text, outcome, stored in (
        (TEXT, ImportOutcome.CREATED, [TEXT]),
        (TEXT, ImportOutcome.UNCHANGED, [TEXT]),
        ("Another.", ImportOutcome.UPDATED, ["Another."]),
    ):
        before = await texts(world)
        assert await imported(world, a_new(text, key="lamp"), dry_run=True) is outcome
        assert await texts(world) == before  # it only looked
        assert await imported(world, a_new(text, key="lamp")) is outcome
        assert await texts(world) == stored


async def test_a_new_note_whose_like_is_in_the_trash_would_be_created(open_world: OpenWorld) -> None:
    world = await open_world()
    stored = await world.add(TEXT)
    await world.services.forget(stored.note.public_id, None, LOCAL_CALLER)
    assert await imported(world, a_new(), dry_run=True) is ImportOutcome.CREATED


async def test_a_note_comes_as_it_was_and_comes_once(open_world: OpenWorld) -> None:
    home, world = await open_world(), await open_world()
    note = (await home.add(TEXT)).note
    assert await imported(world, elsewhere(note), dry_run=True) is ImportOutcome.CREATED
    assert await texts(world) == []
    assert await imported(world, elsewhere(note)) is ImportOutcome.CREATED
    found = (await world.stores.notes.by_ids([note.note_id]))[note.note_id]
    assert (found.public_id, found.revision, found.ingested_at) == (note.public_id, note.revision, note.ingested_at)
    assert await imported(world, elsewhere(note)) is ImportOutcome.UNCHANGED


async def test_the_higher_revision_wins(open_world: OpenWorld) -> None:
    world = await open_world()
    note = (await world.add(TEXT)).note
    for revision, outcome in ((0, ImportOutcome.KEPT), (1, ImportOutcome.KEPT), (2, ImportOutcome.UPDATED)):
        other = elsewhere(note, "Another.", revision=revision)
        assert await imported(world, other, dry_run=True) is outcome
        assert await imported(world, other) is outcome
    assert await texts(world) == ["Another."]


async def test_the_same_text_under_another_id_is_not_stored_twice(open_world: OpenWorld) -> None:
    world = await open_world()
    note = (await world.add(TEXT)).note
    other = elsewhere(note, note_id=NoteId(uuid4()), public_id="note_other")
    assert await imported(world, other) is ImportOutcome.UNCHANGED
    trashed = elsewhere(
        note, note_id=NoteId(uuid4()), public_id="note_trash", status=Status.DELETED, deleted_at=note.updated_at
    )
    assert await imported(world, trashed) is ImportOutcome.CREATED  # in the trash it stands in nobody's way


async def test_a_note_that_stands_in_the_way_is_named(open_world: OpenWorld) -> None:
    world = await open_world()
    note = (await world.add(TEXT, key="lamp")).note
    same_key = elsewhere(note, "Another.", note_id=NoteId(uuid4()), public_id="note_other")
    with pytest.raises(BadRequest, match=f"{note.public_id} already has the same key"):
        await imported(world, same_key)
    same_name = elsewhere(note, "Another.", note_id=NoteId(uuid4()), meta=replace(note.meta, key="desk lamp"))
    with pytest.raises(BadRequest, match="another note has the id"):
        await imported(world, same_name)


async def test_a_note_of_another_tenant_is_not_touched(open_world: OpenWorld) -> None:
    world = await open_world()
    note = (await world.add(TEXT)).note
    stranger = Caller(Principal("bob", "other"), "call")
    with pytest.raises(BadRequest, match="is taken"):
        await world.services.import_notes.import_note(elsewhere(note, revision=9), stranger, dry_run=True)
