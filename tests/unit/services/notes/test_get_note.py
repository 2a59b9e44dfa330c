"""Reading a note: what is shown as its text is the text that was stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nur.domain.errors import NotFound
from tests.note_world import ME

if TYPE_CHECKING:
    from tests.unit.services.conftest import OpenWorld


async def test_a_note_that_is_replaced_while_it_is_read_comes_with_its_own_text(open_world: OpenWorld) -> None:
    world = await open_world()
    seen = (await world.add("The lamp is green.", key="lamp")).note
    await world.add("The lamp is red.", key="lamp")
    note, text = await world.services.read_note.get.with_text(seen, ME)
    assert (note.version, text) == (2, "The lamp is red.")


async def test_a_note_that_is_deleted_and_replaced_while_it_is_read_is_not_found(open_world: OpenWorld) -> None:
    world = await open_world()
    seen = (await world.add("The lamp is green.", key="lamp")).note
    await world.add("The lamp is red.", key="lamp")
    await world.services.forget(seen.public_id, None, ME)
    with pytest.raises(NotFound):
        await world.services.read_note.get.with_text(seen, ME)
