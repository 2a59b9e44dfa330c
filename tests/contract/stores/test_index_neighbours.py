"""Contract of ChunkStore: how it uses the results of a vector index."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nur.ports.vector_index import Neighbour
from tests.store_notes import (
    ALL,
    START,
    a_note,
    a_query,
    creation,
    remove,
    replacement,
    store,
    vector_of,
    write,
)
from tests.store_queries import found_keys, index_at, keys_of

if TYPE_CHECKING:
    from nur.domain.notes import Note
    from nur.ports.stores import Stores


async def indexed(stores: Stores, text: str, **changes: Any) -> tuple[Note, Neighbour]:
    """An indexed note, and the index's result for its first chunk."""
    note = await write(stores, creation(a_note(text, **changes), text, indexed=True))
    return note, Neighbour((await keys_of(stores, note))[0], note.note_id, 0.5)


async def test_neighbours_from_the_index_are_candidates_with_its_similarity(stores: Stores) -> None:
    note, neighbour = await indexed(stores, "Tea.")
    found = await stores.chunks.candidates(a_query(vector=vector_of("tea"), neighbours=[neighbour]))
    assert [view.note_id for view in found.views] == [note.note_id]
    assert dict(found.cosines) == {neighbour.chunk_key: 0.5}
    assert found.not_visible == []


async def test_what_the_index_still_holds_of_a_deleted_expired_or_filtered_note_is_not_visible(stores: Stores) -> None:
    deleted, a = await indexed(stores, "Tea deleted.")
    _, b = await indexed(stores, "Tea expired.", expires_at=START)
    _, c = await indexed(stores, "Tea of others.", tenant="acme")
    shown, d = await indexed(stores, "Tea shown.")
    await remove(stores, deleted)

    found = await stores.chunks.candidates(a_query(vector=vector_of("tea"), neighbours=[a, b, c, d]))

    assert [view.note_id for view in found.views] == [shown.note_id]
    assert set(found.not_visible) == {a.chunk_key, b.chunk_key, c.chunk_key}


async def test_a_neighbour_replaced_after_the_index_answered_stands_for_the_notes_current_chunks(
    stores: Stores,
) -> None:
    note, neighbour = await indexed(stores, "Tea at four.")
    note = await write(stores, replacement(note, "Coffee at five. Milk.", pieces=2, indexed=True))

    found = await stores.chunks.candidates(a_query(vector=vector_of("tea"), neighbours=[neighbour]))

    assert [view.chunk_key for view in found.views] == await keys_of(stores, note)
    contents = {chunk.chunk_key: chunk.chunk.content for chunk in await stores.chunks.of_note(note.note_id)}
    expected = {key: float(vector_of(content) @ vector_of("tea")) for key, content in contents.items()}
    assert dict(found.cosines) == pytest.approx(expected)  # their own, not that of the replaced chunk
    assert found.not_visible == [neighbour.chunk_key]


async def test_a_replaced_neighbours_current_chunks_are_candidates_once(stores: Stores) -> None:
    note, neighbour = await indexed(stores, "Tea at four.")
    note = await write(stores, replacement(note, "Tea at five. Tea at six.", pieces=2))

    query = a_query(terms=["tea"], vector=vector_of("tea"), neighbours=[neighbour, neighbour], compare_all=True)
    found = await stores.chunks.candidates(query)

    assert sorted(view.chunk_key for view in found.views) == await keys_of(stores, note)


async def test_a_neighbour_beyond_the_limit_brings_in_no_other_chunk_of_its_note(stores: Stores) -> None:
    note, _ = await indexed(stores, "Tea at four. Milk at five.", pieces=2)
    near, far = [Neighbour(key, note.note_id, 0.5 - i / 10) for i, key in enumerate(await keys_of(stores, note))]
    new = await store(stores, "Tea.")  # not indexed yet, and nearer

    found = await stores.chunks.candidates(a_query(vector=vector_of("tea"), neighbours=[near, far], limit=2))

    assert {view.chunk_key for view in found.views} == {near.chunk_key, *await keys_of(stores, new)}


async def test_a_replaced_neighbour_that_no_longer_matches_the_filter_stays_away(stores: Stores) -> None:
    note, neighbour = await indexed(stores, "Tea at four.", project="p")
    changed = replacement(note, "Coffee at five.")
    await write(stores, replace(changed, note=replace(changed.note, meta=replace(note.meta, project="q"))))

    query = a_query(vector=vector_of("tea"), neighbours=[neighbour], where=replace(ALL, project="p"))

    assert (await stores.chunks.candidates(query)).views == []


async def test_an_index_that_left_out_what_it_should_hold_has_missed_it(stores: Stores) -> None:
    _, held = await indexed(stores, "Tea at four.")
    await indexed(stores, "Tea at five.")
    query = a_query(vector=vector_of("tea"), neighbours=[held], compare_all=True)

    assert (await stores.chunks.candidates(query)).missed_by_index
    assert not (await stores.chunks.candidates(replace(query, compare_all=False))).missed_by_index


async def test_an_index_misses_nothing_that_it_was_never_told(stores: Stores) -> None:
    _, held = await indexed(stores, "Tea at four.")
    await store(stores, "Tea at five.")  # waits in the outbox
    await write(stores, creation(a_note("Tea at six."), "Tea at six.", embedded=False))

    found = await stores.chunks.candidates(a_query(vector=vector_of("tea"), neighbours=[held], compare_all=True))

    assert not found.missed_by_index
    assert len(found.views) == 2


async def test_nothing_is_compared_one_by_one_if_the_index_has_every_committed_vector(stores: Stores) -> None:
    _, held = await indexed(stores, "Tea at four.")
    await store(stores, "Tea at five.")
    query = a_query(vector=vector_of("tea"), neighbours=[held])

    assert len((await stores.chunks.candidates(query)).views) == 2
    assert len((await stores.chunks.candidates(replace(query, index_is_complete=True))).views) == 1
    assert (await stores.chunks.look_up(0, 0, lambda _: [])).not_indexed
    assert not (await stores.chunks.look_up(0, 0, lambda _: [], with_not_indexed=False)).not_indexed


async def test_a_chunk_that_is_indexed_while_a_search_runs_is_compared_all_the_same(stores: Stores) -> None:
    """The index answered before it had the chunk; the snapshot is taken later."""
    _, held = await indexed(stores, "Tea at four.")
    late = await store(stores, "Tea at five.")
    before = (await stores.chunks.look_up(0, 0, lambda _: [])).not_indexed
    await index_at(stores, late.revision)

    query = a_query(vector=vector_of("tea"), neighbours=[held])
    assert await found_keys(stores, neighbours=[held]) == {held.chunk_key}
    found = await stores.chunks.candidates(replace(query, not_indexed=before))

    assert {view.chunk_key for view in found.views} == {held.chunk_key, *await keys_of(stores, late)}
    missed = await stores.chunks.candidates(replace(query, not_indexed=before, compare_all=True))
    assert not missed.missed_by_index  # it was not there yet
