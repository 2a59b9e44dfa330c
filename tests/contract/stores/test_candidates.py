"""Contract of ChunkStore: lexical and dense candidates, and the data returned with them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from nur.domain.derivations import Derivation, TimeRow
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind
from nur.ports.chunks import AskedWindow
from tests.store_notes import (
    ALL,
    OTHER_EMBEDDING,
    START,
    a_note,
    a_query,
    a_turn,
    chunks_of,
    creation,
    current,
    description,
    remove,
    replacement,
    store,
    vector_of,
    words,
    write,
)
from tests.store_queries import by_words, found_keys, index_at, keys_of, views

if TYPE_CHECKING:
    from nur.domain.notes import NoteId
    from nur.ports.stores import Stores

DAY = timedelta(days=1)


# Lexical candidates


async def test_any_of_the_terms_finds_a_chunk(stores: Stores) -> None:
    for text in ("Tea at four.", "Coffee at five.", "Water."):
        await store(stores, text)

    async def found(terms: list[str], limit: int = 10) -> int:
        return len(await stores.chunks.by_words(terms, ALL, START, limit))

    assert await found(["tea", "coffee", "tea"]) == 2
    assert await found(["tea"], limit=0) == 0
    assert await found(["at"], limit=1) == 1
    assert await found([]) == 0
    assert await found(["wine"]) == 0
    assert await found(["te"]) == 0  # a term, not a prefix


async def test_rarer_terms_more_often_in_shorter_chunks_rank_higher(stores: Stores) -> None:
    texts = [
        "tea water water water",  # once
        "tea tea water water",  # twice
        "tea",  # alone
        "milk water water water",  # another, rarer term
        *(f"water {i}" for i in range(20)),
    ]
    notes = {text: await store(stores, text) for text in texts}

    assert await by_words(stores, "tea") == [notes[texts[i]].note_id for i in (2, 1, 0)]
    both = await by_words(stores, "tea", "milk")
    assert both.index(notes[texts[3]].note_id) < both.index(notes[texts[0]].note_id)


async def test_equal_chunks_are_ranked_by_age(stores: Stores) -> None:
    notes = [await store(stores, owner=f"o{i}") for i in range(5)]
    assert await stores.chunks.by_words(["tea"], ALL, START, 3) == await keys_of(stores, *notes[:3])


ODD_TERMS = [
    '"',
    '""',
    "or",
    "near(a",
    "a*",
    "-a",
    "c++",
    "a.b",
    "e\u0301",
    "記憶",
    "\ue000",
    "❤",
    "it's",
    "terms:a",
    "^a",
]


@pytest.mark.parametrize("term", ODD_TERMS)
async def test_no_term_is_read_as_an_operator(stores: Stores, term: str) -> None:
    given = creation(a_note())
    note = await write(stores, replace(given, chunks=[replace(given.chunks[0], terms=[f"x {term} y"])]))
    await store(stores, "z")

    assert await by_words(stores, term) == [note.note_id]
    assert (await stores.chunks.statistics([term])).frequencies[term].pieces == 1


async def test_statistics_follow_every_change(stores: Stores) -> None:
    one = await store(stores, "tea tea milk")
    two = await store(stores, "tea water")
    await store(stores, "tea", tenant="acme")

    counted = await stores.chunks.statistics(["tea", "milk", "wine", "tea"])
    assert (counted.chunks, counted.pieces, counted.terms) == (3, 3, 6)
    assert counted.frequencies == {"tea": (3, 4), "milk": (1, 1)}

    one = await write(stores, replacement(one, "wine wine"))
    await write(stores, description(one, title="Wine"))
    await remove(stores, two)

    counted = await stores.chunks.statistics(["tea", "milk", "wine", "water"])
    assert (counted.chunks, counted.terms) == (2, 3)
    assert counted.frequencies == {"tea": (1, 1), "wine": (1, 2)}


# Candidates by meaning


async def test_a_chunk_is_compared_until_the_index_holds_its_notes_revision(stores: Stores) -> None:
    note = await store(stores, "Tea at four. Coffee at five.", pieces=2)
    keys = set(await keys_of(stores, note))

    assert await found_keys(stores) == keys
    await index_at(stores, 1)
    assert await found_keys(stores) == set()
    note = await write(stores, description(note, title="Tea"))
    assert await found_keys(stores) == keys
    await index_at(stores, 2)
    assert await found_keys(stores) == set()


async def test_a_compared_chunk_has_the_exact_cosine(stores: Stores) -> None:
    note = await store(stores, "Tea at four. Coffee at five.", pieces=2)

    found = await stores.chunks.candidates(a_query(vector=vector_of("coffee")))

    contents = {chunk.chunk_key: chunk.chunk.content for chunk in await stores.chunks.of_note(note.note_id)}
    expected = {key: float(vector_of(content) @ vector_of("coffee")) for key, content in contents.items()}
    assert dict(found.cosines) == pytest.approx(expected)


async def test_compare_all_finds_every_vector_that_matches_whatever_the_index_holds(stores: Stores) -> None:
    note = await write(stores, creation(a_note("Tea at four.", pieces=2), "Tea at four.", indexed=True))
    await store(stores, "Tea.", tenant="acme")
    keys = set(await keys_of(stores, note))

    assert await found_keys(stores) == set()
    assert await found_keys(stores, compare_all=True) == keys
    assert await found_keys(stores, compare_all=True, embedding_version=OTHER_EMBEDDING) == set()
    assert await found_keys(stores, compare_all=True, where=NoteFilter(tenant="nobody")) == set()


@pytest.mark.parametrize("compare_all", [True, False])
@pytest.mark.parametrize(("max_compared", "is_complete"), [(4, True), (3, False), (2, False)])
async def test_where_too_many_would_be_compared_none_is_and_words_alone_answer(
    stores: Stores, max_compared: int, is_complete: bool, compare_all: bool
) -> None:
    for i in range(3):
        await store(stores, f"Tea {i}.")
    await store(stores, "Tea.", tenant="acme")  # another tenant's does not count
    query = a_query(vector=vector_of("tea"), max_compared=max_compared, compare_all=compare_all)

    by_meaning = await stores.chunks.candidates(query)
    by_both = await stores.chunks.candidates(replace(query, terms=["0"]))

    assert by_meaning.is_complete is by_both.is_complete is is_complete
    assert len(by_meaning.views) == len(by_meaning.cosines) == (3 if is_complete else 0)
    assert len(by_both.views) == (3 if is_complete else 1)
    assert len(by_both.cosines) == (3 if is_complete else 0)


async def test_without_a_vector_nothing_is_compared(stores: Stores) -> None:
    note = await store(stores)
    found = await stores.chunks.candidates(a_query(terms=["tea"], compare_all=True))
    assert [view.note_id for view in found.views] == [note.note_id]
    assert found.cosines == {}


async def test_a_chunk_without_a_vector_is_found_by_its_words_alone(stores: Stores) -> None:
    note = await write(stores, creation(a_note(), embedded=False))
    found = await stores.chunks.candidates(a_query(terms=["tea"], vector=vector_of("tea"), compare_all=True))
    assert [view.note_id for view in found.views] == [note.note_id]
    assert found.cosines == {}
    assert await found_keys(stores) == set()


async def test_a_candidate_found_by_words_alone_has_its_cosine_too(stores: Stores) -> None:
    await write(stores, creation(a_note("Tea at four."), "Tea at four.", indexed=True))
    (view,) = await views(stores, ["tea"])

    found = await stores.chunks.candidates(a_query(terms=["tea"], vector=vector_of("coffee")))

    expected = float(vector_of("Tea at four.") @ vector_of("coffee"))
    assert dict(found.cosines) == pytest.approx({view.chunk_key: expected})


async def test_each_ranker_gives_its_best_up_to_the_limit(stores: Stores) -> None:
    near = [await store(stores, f"Tea {'milk ' * i}.") for i in range(4)]

    all_of_them = await stores.chunks.candidates(a_query(terms=["tea"], vector=vector_of("tea"), limit=5))
    two = await stores.chunks.candidates(a_query(vector=vector_of("tea"), limit=2))

    assert (len(all_of_them.views), all_of_them.has_more) == (4, False)
    assert ({view.note_id for view in two.views}, two.has_more) == ({note.note_id for note in near[:2]}, True)


async def test_the_latest_chunks_said_in_a_window_or_naming_a_time_in_it_are_candidates(stores: Stores) -> None:
    first = START.toordinal()
    windows = [AskedWindow(first + n, first + n + 1, START + n * DAY, START + (n + 1) * DAY) for n in (0, 2)]
    names = Derivation("note_times", 1, [TimeRow(0, 3, first, first + 1)])
    said = {}
    for days in (-1, 0, 0.5, 1, 2, 3, 4):
        note = a_note(text := f"Tea on day {days}.", occurred_at=START + days * DAY)
        said[days] = note.note_id
        await write(stores, replace(creation(note, text), derived=[names] if days == 4 else []))

    async def latest(limit: int) -> list[NoteId]:
        found = await stores.chunks.candidates(a_query(windows=windows, limit=limit))
        return [view.note_id for view in found.views]

    assert set(await latest(10)) == {said[days] for days in (0, 0.5, 2, 4)}
    assert set(await latest(2)) == {said[2], said[4]}


async def test_what_an_index_found_by_words_is_added_to_what_the_lexical_rows_find(stores: Stores) -> None:
    texts = ("Tea at four.", "Coffee at five.", "Milk at six.")
    notes = [await write(stores, creation(a_note(text), text, indexed=True)) for text in texts]
    (first, second, _) = await keys_of(stores, *notes)
    query = a_query(terms=["tea"], found_by_words=[second, first])

    found = await stores.chunks.candidates(query)
    assert {view.note_id for view in found.views} == {note.note_id for note in notes[:2]}


# What comes with the candidates


async def test_turns_near_a_candidate_are_candidates_and_those_near_them_are_context(stores: Stores) -> None:
    for index in range(9):
        await write(stores, creation(a_turn("c", index, "Tea." if index == 4 else "Hello."), "Hello."))
    text = "Tea."
    await remove(stores, await current(stores, a_turn("c", 4)))
    await write(stores, creation(a_turn("c", 4, text, public_id="again"), text))

    found = await stores.chunks.candidates(a_query(terms=["tea"], turn_distance=1))

    assert sorted(view.turn_index or 0 for view in found.views) == [3, 4, 5]
    assert sorted(view.turn_index or 0 for view in found.context_turns) == [2, 6]
    assert found.not_visible == []


async def test_only_current_turns_of_the_same_conversation_that_match_are_near(stores: Stores) -> None:
    near = {
        "cut": a_turn("c", 1, "Hello there.", pieces=2),
        "other conversation": a_turn("other", 3),
        "other tenant": a_turn("c", 3, tenant="acme"),
        "expired": a_turn("c", 4, expires_at=START),
        "deleted": a_turn("c", 0),
        "no turn": a_note("Hello.", kind=Kind.MEMORY, conversation_id="c", turn_index=3),
    }
    for note in near.values():
        await write(stores, creation(note, "Hello there."))
    await remove(stores, await current(stores, near["deleted"]))
    await write(stores, creation(a_turn("c", 2, "Tea."), "Tea."))

    found = await stores.chunks.candidates(a_query(terms=["tea"], turn_distance=2))
    limited = replace(ALL, kinds=frozenset({Kind.TURN}), min_confidence=0.5, type="x")

    assert sorted((view.public_id, view.chunk_index) for view in found.views) == [
        ("c_turn_1", 0),
        ("c_turn_1", 1),
        ("c_turn_2", 0),
    ]
    assert found.context_turns == []
    assert (await stores.chunks.candidates(a_query(terms=["tea"], turn_distance=2, where=limited))).views == []


async def test_candidates_with_the_same_terms_come_with_their_texts(stores: Stores) -> None:
    same = [await store(stores, text) for text in ("Tea at four.", "four, at tea")]
    await store(stores, "Tea at five.")
    cut = await store(stores, "Tea at four. Tea at four.", pieces=2)
    assert words(chunks_of("Tea at four. Tea at four.", 2)[0].chunk.content) == ["tea", "at", "four"]

    found = await stores.chunks.candidates(a_query(terms=["tea"]))

    expected = {*await keys_of(stores, *same), *await keys_of(stores, cut)}
    assert set(found.lookalikes) == expected
    texts = {found.lookalikes[key].stored.chunk.content for key in await keys_of(stores, *same)}
    assert texts == {"Tea at four.", "four, at tea"}
    assert found.lookalikes[(await keys_of(stores, same[0]))[0]].note == same[0]


async def test_an_answer_tells_whether_any_note_matches_the_filter(stores: Stores) -> None:
    await write(stores, creation(a_note("Water.", project="p"), "Water.", embedded=False))
    for where, any_stored in ((ALL, True), (replace(ALL, project="p"), True), (replace(ALL, project="q"), False)):
        found = await stores.chunks.candidates(a_query(terms=["tea"], where=where))
        assert (found.views, found.any_stored) == ([], any_stored)


async def test_the_chunks_of_one_note_are_read_as_if_they_had_been_found(stores: Stores) -> None:
    asked = await write(stores, creation(a_turn("c", 1, "Milk at five.", pieces=2), "Milk at five.", indexed=True))
    near = await write(stores, creation(a_turn("c", 2, "Tea."), "Tea."))
    query = a_query(terms=["tea"], vector=vector_of("tea"), turn_distance=1)

    found = await stores.chunks.candidates_of(asked.note_id, query)

    assert [view.chunk_key for view in found.views] == await keys_of(stores, asked)
    assert [view.chunk_key for view in found.context_turns] == await keys_of(stores, near)
    assert set(found.cosines) == {view.chunk_key for view in found.views}
    hidden = replace(query, where=replace(ALL, project="q"))
    assert (await stores.chunks.candidates_of(asked.note_id, hidden)).views == []
