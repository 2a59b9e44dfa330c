"""Contract of Stores: opening, closing and reopening."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.store_notes import ALL, START, current, store

if TYPE_CHECKING:
    from nur.ports.stores import Stores


async def test_what_was_written_is_there_after_closing_and_opening_again(stores: Stores) -> None:
    note = await store(stores)
    await stores.facts.set("a_fact", "s1")

    await stores.close()
    await stores.open(START)

    assert await current(stores, note) == note
    assert await stores.notes.texts([note.note_id]) == {note.note_id: "Tea is drunk at four."}
    assert len(await stores.chunks.by_words(["tea"], ALL, START, 5)) == 1
    assert await stores.facts.get("a_fact") == "s1"
    await stores.ping()


async def test_an_open_store_answers_a_ping(stores: Stores) -> None:
    await stores.ping()


async def test_a_scrub_takes_nothing_that_is_stored(stores: Stores) -> None:
    note = await store(stores)
    await stores.scrub()
    assert await current(stores, note) == note
    assert len(await stores.chunks.by_words(["tea"], ALL, START, 5)) == 1


async def test_closing_twice_is_no_trouble(stores: Stores) -> None:
    await stores.close()
    await stores.close()
