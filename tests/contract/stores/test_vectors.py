"""What every VectorStore does: vectors per embedding version, and which chunks have none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.domain.errors import Conflict
from nur.domain.notes import ChunkKey
from nur.ports.store_facts import EMBEDDING_VERSION, NEXT_EMBEDDING_VERSION
from tests.store_notes import (
    ALL,
    DIMENSIONS,
    EMBEDDING,
    OTHER_EMBEDDING,
    START,
    a_note,
    a_query,
    at,
    creation,
    description,
    remove,
    replacement,
    store,
    vector_of,
    write,
)

if TYPE_CHECKING:
    from nur.domain.notes import Note
    from nur.ports.embedder import Floats
    from nur.ports.stores import Stores

ONES = np.ones(3, np.float32)


async def attach(
    stores: Stores,
    note: Note,
    vectors: dict[ChunkKey, Floats],
    pooled: Floats | None = None,
    version: str = EMBEDDING,
) -> None:
    await stores.vectors.attach(note, vectors, pooled, version, START)


async def test_vectors_come_back_to_the_last_bit(stores: Stores) -> None:
    limits = np.finfo(np.float32)
    given = np.array([limits.smallest_subnormal, -0.0, limits.max, limits.min, 1 / 3, limits.eps], dtype=np.float32)
    note = a_note()
    first = creation(note)
    chunks = [replace(first.chunks[0], vector=given)]
    first = replace(first, chunks=chunks, pooled=given[::-1])  # not contiguous
    keys = (await stores.notes.write(first, at())).chunk_keys

    (found,) = (await stores.vectors.of_chunks(keys, EMBEDDING)).values()
    pooled = (await stores.vectors.of_notes([note.note_id], EMBEDDING))[note.note_id]

    assert found.dtype == pooled.dtype == np.float32
    assert found.tobytes() == given.tobytes()
    assert pooled.tobytes() == given[::-1].tobytes()


async def test_a_note_has_its_own_vector_beside_those_of_its_chunks(stores: Stores) -> None:
    tea = a_note(pieces=2)
    given = creation(tea)
    await stores.notes.write(given, at())
    milk = await write(stores, creation(a_note("Milk."), "Milk.", embedded=False))
    ids = [tea.note_id, milk.note_id]

    found = await stores.vectors.of_notes(ids, EMBEDDING)

    assert given.pooled is not None
    assert {note_id: vector.tobytes() for note_id, vector in found.items()} == {tea.note_id: given.pooled.tobytes()}
    assert await stores.vectors.of_notes(ids, OTHER_EMBEDDING) == {}


async def test_unknown_chunks_have_no_vectors(stores: Stores) -> None:
    assert await stores.vectors.of_chunks([ChunkKey(99)], EMBEDDING) == {}
    assert await stores.vectors.missing(a_note().note_id, EMBEDDING) == []


async def test_each_embedding_version_has_its_own_vectors(stores: Stores) -> None:
    note = a_note()
    (key,) = (await stores.notes.write(creation(note), at())).chunk_keys

    await attach(stores, note, {key: ONES}, version=OTHER_EMBEDDING)

    assert (await stores.vectors.of_chunks([key], EMBEDDING))[key].shape == (DIMENSIONS,)
    assert (await stores.vectors.of_chunks([key], OTHER_EMBEDDING))[key].shape == (3,)
    assert await stores.vectors.of_chunks([key], "test:unknown:1") == {}


async def test_a_chunk_without_a_vector_waits_for_one(stores: Stores) -> None:
    note = await write(stores, creation(a_note(pieces=2), embedded=False))
    first, second = [stored.chunk_key for stored in await stores.vectors.missing(note.note_id, EMBEDDING)]
    compared = a_query(vector=vector_of("tea"))
    assert not any(stored.has_vector for stored in await stores.chunks.of_note(note.note_id))
    assert await stores.vectors.count_missing(EMBEDDING) == 2
    assert (await stores.chunks.candidates(compared)).views == []  # nothing to compare with
    assert len(await stores.chunks.by_words(["tea"], ALL, START, 9)) == 1  # by its words it is found at once

    await attach(stores, note, {second: vector_of("b")})
    await attach(stores, note, {first: vector_of("a"), second: vector_of("c")}, vector_of("pooled"))

    vectors = await stores.vectors.of_chunks([first, second], EMBEDDING)
    assert vectors[first].tobytes() == vector_of("a").tobytes()
    assert vectors[second].tobytes() == vector_of("b").tobytes()  # the one that was there first
    assert await stores.vectors.missing(note.note_id, EMBEDDING) == []
    assert len(await stores.vectors.missing(note.note_id, OTHER_EMBEDDING)) == 2
    assert await stores.vectors.count_missing(EMBEDDING) == 0
    assert await stores.vectors.count_missing(OTHER_EMBEDDING) == 2
    found = await stores.chunks.candidates(compared)
    assert sorted(view.chunk_key for view in found.views) == [first, second]
    assert all(stored.has_vector for stored in await stores.chunks.of_note(note.note_id))
    pooled = (await stores.vectors.of_notes([note.note_id], EMBEDDING))[note.note_id]
    assert pooled.tobytes() == vector_of("pooled").tobytes()


async def test_vectors_for_a_text_that_was_replaced_are_refused(stores: Stores) -> None:
    old = await write(stores, creation(a_note(), embedded=False))
    (stored,) = await stores.vectors.missing(old.note_id, EMBEDDING)
    note = await write(stores, replacement(old, "Coffee.", embedded=False))

    with pytest.raises(Conflict):
        await attach(stores, old, {stored.chunk_key: vector_of("late")})
    assert len(await stores.vectors.missing(note.note_id, EMBEDDING)) == 1

    await remove(stores, note)
    with pytest.raises(Conflict):
        await attach(stores, note, {}, vector_of("late"))


async def test_vectors_outlive_a_change_of_metadata_alone(stores: Stores) -> None:
    note = await write(stores, creation(a_note(), embedded=False))
    (stored,) = await stores.vectors.missing(note.note_id, EMBEDDING)
    await write(stores, description(note, title="Tea"))

    await attach(stores, note, {stored.chunk_key: vector_of("late")}, vector_of("pooled"))

    assert await stores.vectors.missing(note.note_id, EMBEDDING) == []
    assert (await stores.vectors.of_notes([note.note_id], EMBEDDING)).keys() == {note.note_id}


async def test_pages_give_every_active_chunk_with_a_vector_once(stores: Stores) -> None:
    for i in range(4):
        await store(stores, f"Text {i}.", pieces=3, tenant=f"t{i % 2}")
    await write(stores, creation(a_note("No vector."), "No vector.", embedded=False))
    await remove(stores, await store(stores, "Gone."))

    keys: list[ChunkKey] = []
    while page := await stores.vectors.page(EMBEDDING, keys[-1] if keys else ChunkKey(0), 5, START):
        assert len(page) <= 5
        for chunk, vector in page:
            keys.append(chunk.stored.chunk_key)
            assert chunk.note.note_id == chunk.stored.note_id
            assert vector.tobytes() == vector_of(chunk.stored.chunk.content).tobytes()

    assert len(keys) == 12
    assert keys == sorted(set(keys))
    assert await stores.vectors.page(OTHER_EMBEDDING, ChunkKey(0), 5, START) == []


async def test_vectors_of_two_versions_stand_beside_each_other(stores: Stores) -> None:
    note = await write(stores, creation(a_note(), indexed=True))
    (stored,) = await stores.vectors.missing(note.note_id, OTHER_EMBEDDING)

    await attach(stores, note, {stored.chunk_key: ONES}, ONES, OTHER_EMBEDDING)
    assert await stores.vectors.versions() == {EMBEDDING: 1, OTHER_EMBEDDING: 1}

    assert await stores.vectors.drop(EMBEDDING) == 1
    assert await stores.vectors.versions() == {OTHER_EMBEDDING: 1}
    assert await stores.vectors.of_notes([note.note_id], EMBEDDING) == {}
    assert (await stores.vectors.of_notes([note.note_id], OTHER_EMBEDDING)).keys() == {note.note_id}


async def test_a_switch_activates_a_version_and_queues_every_note_for_the_index(stores: Stores) -> None:
    note = await write(stores, creation(a_note(), indexed=True))
    await stores.facts.set(EMBEDDING_VERSION, EMBEDDING)
    await stores.facts.set(NEXT_EMBEDDING_VERSION, OTHER_EMBEDDING)

    await stores.vectors.switch(OTHER_EMBEDDING, START)

    assert await stores.facts.get(EMBEDDING_VERSION) == OTHER_EMBEDDING
    assert await stores.facts.get(NEXT_EMBEDDING_VERSION) is None
    assert not await stores.index_marks.is_indexed(note.note_id)
    assert [job.note_id for job in await stores.outbox.lease("w", 10, START, 60)] == [note.note_id]


async def test_vectors_of_pieces_are_read_with_the_candidates_of_their_model(stores: Stores) -> None:
    note = await write(stores, creation(a_note(), embedded=False))
    (missing,) = await stores.vectors.missing(note.note_id, EMBEDDING)
    assert (missing.note_text, missing.pieces) == ("Tea is drunk at four.", creation(note).chunks[0].pieces)
    pieces = {missing.chunk_key: b"\x01\x02"}
    await stores.vectors.attach(note, {missing.chunk_key: vector_of("tea")}, None, EMBEDDING, START, pieces=pieces)
    await stores.vectors.attach(note, {missing.chunk_key: ONES}, None, OTHER_EMBEDDING, START)

    async def found(version: str, *, asked: bool) -> dict[ChunkKey, bytes]:
        query = a_query(terms=["tea"], embedding_version=version, with_model_vectors=asked)
        return dict((await stores.chunks.candidates(query)).model_vectors)

    assert await found(EMBEDDING, asked=True) == pieces
    assert await found(EMBEDDING, asked=False) == {}
    assert await found(OTHER_EMBEDDING, asked=True) == {}  # that model embeds whole chunks
