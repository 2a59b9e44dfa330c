"""Listing and reading notes: each note names the one that replaces it."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
