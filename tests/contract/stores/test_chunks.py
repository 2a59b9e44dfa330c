"""Contract of ChunkStore: chunks are stored, shown, and hidden by the filter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nur.domain.notes import ChunkKey, Kind, Visibility
from tests.store_notes import (
    ALL,
    EMBEDDING,
    START,
    a_note,
    a_query,
    after,
    at,
    chunks_of,
    creation,
    pieces_of,
    remove,
    replacement,
    store,
    vector_of,
    write,
)
from tests.store_queries import by_words, keys_of, views

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.ports.chunks import StoredWord
    from nur.ports.notes import NoteWrite
    from nur.ports.stores import Stores


# What is stored


async def test_chunks_come_back_in_order_with_everything_stored_beside_them(stores: Stores) -> None:
    text = "One two. Three four. Five six."
    note = a_note(text, pieces=3)
    given = [replace(new, chunk=replace(new.chunk, context="Tea > Times")) for new in chunks_of(text, 3)]

    keys = (await stores.notes.write(replace(creation(note, text), chunks=given), at())).chunk_keys

    stored = await stores.chunks.of_note(note.note_id)
    assert [s.chunk for s in stored] == [new.chunk for new in given]
    assert [s.content_hash for s in stored] == [new.content_hash for new in given]
    assert [s.chunk_key for s in stored] == keys
    assert {s.note_id for s in stored} == {note.note_id}
    assert all(s.has_vector for s in stored)
    shown = await stores.chunks.show(dict.fromkeys(keys, note.note_id), ALL, START)
    assert {key: (each.pieces, each.atoms) for key, each in shown.items()} == {
        key: (new.pieces, new.atoms) for key, new in zip(keys, given, strict=True)
    }


async def test_ranking_reads_no_more_of_a_chunk_than_it_needs(stores: Stores) -> None:
    text = "Ann: " + "tea is drunk at four. " * 10
    note = await store(stores, text, kind=Kind.TURN, conversation_id="c", turn_index=3, role="user", heading=b"h")
    (stored,) = await stores.chunks.of_note(note.note_id)

    (view,) = await views(stores, ["tea"])
    (given,) = chunks_of(text)

    assert tuple(view) == (
        stored.chunk_key,
        0,
        stored.content_hash,
        len(text),
        text[:64],
        note.note_id,
        note.public_id,
        Kind.TURN,
        1,
        b"h",
        "user",
        "c",
        3,
        given.digest,
        given.pieces,
        given.piece_vectors,
        False,
    )
    assert view.turn == ("c", 3)
    assert not view.is_chunked


async def test_an_unknown_note_has_no_chunks(stores: Stores) -> None:
    unknown = a_note().note_id
    assert await stores.chunks.of_note(unknown) == []
    assert await stores.chunks.show({ChunkKey(99): unknown}, ALL, START) == {}
    assert (await stores.chunks.candidates_of(unknown, a_query())).views == []


# What is shown


async def test_a_shown_chunk_comes_with_its_note_and_whether_it_has_a_vector(stores: Stores) -> None:
    tea = await store(stores, "Tea.")
    milk = await write(stores, creation(a_note("Milk."), "Milk.", embedded=False))
    (tea_key,), (milk_key,) = await keys_of(stores, tea), await keys_of(stores, milk)

    shown = await stores.chunks.show({tea_key: tea.note_id, milk_key: milk.note_id}, ALL, START)

    assert shown[tea_key].note == tea
    assert shown[tea_key].stored.chunk.content == "Tea."
    assert shown[tea_key].pieces == pieces_of("Tea.")
    assert [shown[key].stored.has_vector for key in (tea_key, milk_key)] == [True, False]


async def test_a_replaced_chunk_is_represented_by_its_notes_current_first_chunk(stores: Stores) -> None:
    old = await store(stores, "Tea at four. Tea at five.", pieces=2)
    first, second = await keys_of(stores, old)
    new = await write(stores, replacement(old, "Coffee at six. Milk.", pieces=2))
    current_first, _ = await keys_of(stores, new)

    shown = await stores.chunks.show({second: old.note_id}, ALL, START)

    assert {key: each.stored.chunk_key for key, each in shown.items()} == {second: current_first}
    assert shown[second].note == new
    both = await stores.chunks.show({first: old.note_id, second: old.note_id}, ALL, START)
    assert {key: each.stored.chunk_key for key, each in both.items()} == dict.fromkeys((first, second), current_first)


async def test_a_replaced_chunk_of_a_note_that_may_not_be_shown_is_left_out(stores: Stores) -> None:
    private = await store(stores, "Tea at four.", owner="bob")
    gone = await store(stores, "Tea at five.")
    keys = {key: note.note_id for note in (private, gone) for key in await keys_of(stores, note)}
    await write(stores, replacement(private, "Coffee."))
    await remove(stores, gone)

    assert await stores.chunks.show(keys, replace(ALL, visible_to="ann"), START) == {}
    assert len(await stores.chunks.show(keys, replace(ALL, visible_to="bob"), START)) == 1


async def test_a_chunk_is_shown_between_its_neighbours(stores: Stores) -> None:
    cut = await store(stores, "One two three four five.", pieces=5)
    whole = await store(stores, "Tea.")
    chunks = [chunk.chunk for chunk in await stores.chunks.of_note(cut.note_id)]
    keys = await keys_of(stores, cut)
    (alone,) = await keys_of(stores, whole)
    asked = {keys[0]: cut.note_id, keys[2]: cut.note_id, keys[4]: cut.note_id, alone: whole.note_id}

    shown = await stores.chunks.show(asked, ALL, START, with_neighbours=True)
    plain = await stores.chunks.show(asked, ALL, START)

    around = {key: (each.before, each.after) for key, each in shown.items()}
    assert around == {
        keys[0]: (None, chunks[1]),
        keys[2]: (chunks[1], chunks[3]),
        keys[4]: (chunks[3], None),
        alone: (None, None),
    }
    assert {(each.before, each.after) for each in plain.values()} == {(None, None)}


async def test_a_chunk_is_shown_with_its_notes_text_where_asked(stores: Stores) -> None:
    old = await store(stores, "One two. Three four.", pieces=2)
    replaced, _ = await keys_of(stores, old)
    note = await write(stores, replacement(old, "Five six. Seven.", pieces=2))
    asked = dict.fromkeys([replaced, *await keys_of(stores, note)], note.note_id)

    shown = await stores.chunks.show(asked, ALL, START, with_texts=True)
    plain = await stores.chunks.show(asked, ALL, START)

    assert {key: each.text for key, each in shown.items()} == dict.fromkeys(asked, "Five six. Seven.")
    assert {each.text for each in plain.values()} == {None}


# The filter decides


async def test_a_note_expires_at_its_second_in_every_way_of_finding(stores: Stores) -> None:
    note = await store(stores, expires_at=after(10))
    text = "Coffee."
    await write(stores, creation(a_note(text, expires_at=after(10)), text, indexed=True))
    (key,) = await keys_of(stores, note)

    async def ways(seconds: float) -> list[int]:
        now = after(seconds)
        return [
            len(await stores.notes.page(ALL, now, limit=5)),
            len(await stores.chunks.by_words(["tea"], ALL, now, 5)),
            len((await stores.chunks.candidates(a_query(terms=["tea"], now=now))).views),
            len((await stores.chunks.candidates(a_query(vector=vector_of("tea"), now=now))).views),
            len((await stores.chunks.candidates_of(note.note_id, a_query(now=now))).views),
            len(await stores.chunks.show({key: note.note_id}, ALL, now)),
            len(await stores.vectors.page(EMBEDDING, ChunkKey(0), 5, now)),
            len(await stores.index_marks.sample(EMBEDDING, 5, now)),
        ]

    assert await ways(9.999999) == [2, 1, 1, 1, 1, 1, 2, 1]
    assert await ways(10) == [0] * 8


async def test_a_private_note_is_found_by_its_owner_alone(stores: Stores) -> None:
    private = await store(stores, "Tea of Bob.", owner="bob")
    custom = await store(stores, "Tea for some.", owner="bob", visibility=Visibility.CUSTOM)
    shared = [
        await store(stores, f"Tea for the {scope}.", owner="bob", visibility=scope)
        for scope in (Visibility.TEAM, Visibility.ORG)
    ]
    own = await store(stores, "Tea of Ann.", owner="ann")
    notes = [private, custom, *shared, own]
    keys = {key: note.note_id for note in notes for key in await keys_of(stores, note)}
    visible = {
        None: {note.note_id for note in notes},
        "ann": {note.note_id for note in (*shared, own)},
        "bob": {note.note_id for note in (private, custom, *shared)},
        "eve": {note.note_id for note in shared},
    }

    for name, expected in visible.items():
        where = replace(ALL, visible_to=name)
        assert {note.note_id for note in await stores.notes.page(where, START, limit=9)} == expected
        assert set(await by_words(stores, "tea", where=where)) == expected
        meant = await stores.chunks.candidates(a_query(vector=vector_of("tea"), where=where))
        assert {view.note_id for view in meant.views} == expected
        shown = await stores.chunks.show(keys, where, START)
        assert {each.note.note_id for each in shown.values()} == expected


async def test_cosines_are_plain_numbers(stores: Stores) -> None:
    """They go into traces as JSON."""
    await store(stores)
    found = await stores.chunks.candidates(a_query(vector=np.asarray(vector_of("tea"), np.float32)))
    assert [type(cosine) for cosine in found.cosines.values()] == [float]


async def test_a_chunk_is_found_by_each_of_its_pieces_and_named_once(stores: Stores) -> None:
    given = creation(a_note())
    pieces = ["tea", "milk", "tea milk"]
    note = await write(stores, replace(given, chunks=[replace(given.chunks[0], terms=pieces, term_count=4)]))
    await store(stores, "water")

    for asked in (["tea"], ["milk"], ["tea", "milk"]):
        assert [view.note_id for view in await views(stores, asked)] == [note.note_id]
    counted = await stores.chunks.statistics(["tea"])
    assert (counted.chunks, counted.pieces, counted.frequencies["tea"]) == (2, 4, (2, 2))

    await remove(stores, note)
    counted = await stores.chunks.statistics(["tea"])
    assert (counted.chunks, counted.pieces, counted.terms, counted.frequencies) == (1, 1, 1, {})


async def words_after(stores: Stores, key: int, limit: int) -> list[StoredWord]:
    """What is stored after this word; a store that is written to by others may repeat some before it."""
    found: list[StoredWord] = []

    def keep(words: Sequence[StoredWord]) -> list[str]:
        found.extend(words)
        return [f"{word.term:08x}" for word in words]

    counted = await stores.chunks.look_up(key, limit, keep)
    expected = await stores.chunks.statistics([f"{word.term:08x}" for word in found])
    assert replace(counted, not_indexed=frozenset()) == expected
    return [word for word in found if word.key > key]


async def test_words_come_in_the_order_in_which_they_were_stored_and_go_with_the_last_note(stores: Stores) -> None:
    def with_words(words: dict[int, str]) -> NoteWrite:
        given = creation(a_note(str(words)), str(words))
        rows = [" ".join(f"{term:08x}" for term in words)]
        return replace(given, chunks=[replace(given.chunks[0], terms=rows, words=words)])

    first = await write(stores, with_words({2: "tea", 4: "milk"}))
    await write(stores, with_words({4: "milk", 6: "water"}))

    found = await words_after(stores, 0, 10)
    assert [(one.term, one.word) for one in found] == [(2, "tea"), (4, "milk"), (6, "water")]
    assert [one.word for one in await words_after(stores, found[0].key, 1)] == ["milk"]

    await stores.notes.purge(first, at(), indexed=True)
    await stores.scrub()
    assert [one.word for one in await words_after(stores, 0, 10)] == ["milk", "water"]

    await write(stores, with_words({2: "tea", 8: "sugar"}))  # a word that was known, forgotten, and comes again
    assert {one.word for one in await words_after(stores, 0, 10)} == {"milk", "water", "tea", "sugar"}
