"""Listing, reading and counting notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.notes import Kind
from tests.note_world import EVERYTHING, ME

if TYPE_CHECKING:
    from tests.unit.services.conftest import OpenWorld


async def test_a_replaced_note_names_the_note_that_replaces_it(open_world: OpenWorld) -> None:
    world = await open_world()
    older, newer = (await world.remember("Tea is at four.")).note, (await world.remember("Tea is at five.")).note
    await world.services.reviews.supersede(newer, older, ME)
    listed = await world.services.list_notes(EVERYTHING, ME, limit=10)
    assert listed.replaced_by == {older.note_id: newer.public_id}
    assert (await world.services.read_note(older.public_id, ME)).replaced_by == newer.public_id
    assert (await world.services.read_note(newer.public_id, ME)).replaced_by is None


async def test_notes_are_counted_by_kind_and_project_the_largest_project_first(open_world: OpenWorld) -> None:
    world = await open_world()
    await world.remember("Tea is at four.")
    for number, project in enumerate(["boat", "harbour", "boat", "attic", ""]):
        await world.add(f"Note {number}.", project=project)
    counts = await world.services.list_notes.count(ME)
    assert counts.kinds == {kind: {Kind.MEMORY: 1, Kind.NOTE: 5}.get(kind, 0) for kind in Kind}
    assert list(counts.projects.items()) == [("boat", 2), ("attic", 1), ("harbour", 1)]
