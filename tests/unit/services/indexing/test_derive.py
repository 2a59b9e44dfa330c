"""Deriving: with the write, else by the worker; a write never fails because of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nur.domain.archive import ArchivedNote
from nur.domain.notes import Status
from nur.services.archive.import_note import ImportOutcome
from nur.services.indexing.index_worker import MAX_TRIES
from nur.services.notes.edit_note import Edit
from tests.note_world import LONG, ME
from tests.store_notes import START, a_note

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from nur.domain.derivations import Derivation
    from nur.domain.notes import Note
    from tests.note_world import World
    from tests.unit.services.conftest import OpenWorld


async def test_a_stored_note_has_its_rows_at_once(open_world: OpenWorld) -> None:
    world = await open_world()
    for text in ("Tea at four.", "?!", LONG):
        await world.add(text)
        await world.derived_as_stored()


async def test_rows_follow_edits_the_trash_and_a_restore(open_world: OpenWorld) -> None:
    world = await open_world()
    name = (await world.add("Tea at four.")).note.public_id
    for edit in (Edit(fields={"title": "Tea"}), Edit(fields={}, text="Milk at five.")):
        await world.services.edit_note(name, edit, ME)
        await world.derived_as_stored()
    await world.services.forget(name, None, ME)
    assert world.derived() == {}
    await world.services.trash.restore(name, ME)
    await world.derived_as_stored()
    await world.services.trash.purge(name, ME)
    assert world.derived() == {}


async def test_an_imported_note_has_its_rows_and_one_in_the_trash_has_none(open_world: OpenWorld) -> None:
    world = await open_world()
    put = world.services.import_notes.import_note
    gone: dict[str, Any] = {"status": Status.DELETED, "deleted_at": START}
    for note in (a_note("Tea at four."), a_note("Milk at five.", **gone)):
        text = "Tea at four." if note.status is Status.ACTIVE else "Milk at five."
        assert await put(ArchivedNote(note, text), ME, dry_run=False) is ImportOutcome.CREATED
    assert len(world.derived()) == 1
    await world.derived_as_stored()


async def test_a_deriver_that_fails_delays_its_rows_alone(open_world: OpenWorld) -> None:
    world = await open_world()
    world.deriver.broken = True
    stored = await world.add("Tea at four.")
    assert await world.found("tea") == [stored.note.public_id]
    assert world.derived() == {}

    world.deriver.broken = False
    await world.settle()
    await world.derived_as_stored()


async def test_a_deriver_that_always_fails_becomes_a_dead_letter_that_names_it(open_world: OpenWorld) -> None:
    world = await open_world()
    world.deriver.broken = True
    stored = await world.add("Tea at four.")
    for _ in range(MAX_TRIES):
        await world.drain()
        world.clock.advance(400)
    (letter,) = await world.stores.outbox.dead_letters(10)
    assert letter.public_id == stored.note.public_id
    assert letter.error == "These derivers failed: fingerprint_bands. The log has the reason."
    assert await world.stores.index_marks.is_indexed(stored.note.note_id)


async def test_metadata_that_changes_before_the_worker_comes_loses_nothing(open_world: OpenWorld) -> None:
    world = await open_world()
    world.deriver.broken = True
    name = (await world.add("Tea at four.")).note.public_id
    world.deriver.broken = False
    _interrupt(world, name)
    await world.settle()
    await world.derived_as_stored()


async def test_notes_are_derived_again_when_a_deriver_has_another_version(open_world: OpenWorld) -> None:
    world = await open_world()
    await world.add("Tea at four.")
    assert await world.services.derive.queue_outdated() == 0  # the write used this version
    newer = replace(world.services.derive, derivers=[replace(world.deriver.deriver, version=2)])
    assert await newer.queue_outdated() == 1
    assert await newer.queue_outdated() == 0  # queued once


async def test_a_rebuild_derives_every_note_again(open_world: OpenWorld) -> None:
    world = await open_world()
    for text in ("Tea at four.", "Milk at five."):
        await world.add(text)
    await world.drain()
    before = world.deriver.runs
    working = asyncio.create_task(world.services.index_worker.forever())
    await world.services.rebuild()
    working.cancel()
    assert world.deriver.runs == before + 2
    await world.derived_as_stored()


def _interrupt(world: World, name: str) -> None:
    """Change the note's metadata between the reading of its text and the storing of its rows, once."""
    put = world.stores.derivations.put

    class Interrupted:
        was = False

        async def put(self, note: Note, derived: Sequence[Derivation], now: datetime) -> None:
            if not self.was:
                self.was = True
                await world.services.edit_note(name, Edit(fields={"title": "Tea"}), ME)
            await put(note, derived, now)

    world.services.index_worker.derive = replace(world.services.derive, derivations=Interrupted())  # type: ignore[arg-type]
