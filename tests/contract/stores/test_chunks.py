"""What every ChunkStore does: lexical candidates, candidates by meaning, what is shown, statistics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nur.domain.filters import NoteFilter
from nur.domain.notes import ChunkKey, Kind, Visibility
from nur.ports.vector_index import Neighbour
from tests.store_notes import (
    ALL,
    EMBEDDING,
    OTHER_EMBEDDING,
    START,
    a_note,
    a_query,
    a_turn,
    after,
    at,
    chunks_of,
    creation,
    current,
    description,
    pieces_of,
    remove,
    replacement,
    store,
    vector_of,
    words,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nur.domain.notes import Note, NoteId
    from nur.ports.chunks import ScoringView
    from nur.ports.notes import NoteWrite
    from nur.ports.stores import Stores


async def keys_of(stores: Stores, *notes: Note) -> list[ChunkKey]:
    """The keys of all chunks of these notes, in order."""
    return [chunk.chunk_key for note in notes for chunk in await stores.chunks.of_note(note.note_id)]


async def by_words(stores: Stores, *terms: str, where: NoteFilter = ALL) -> list[NoteId]:
    """The notes whose chunks contain any of the terms, best first."""
    keys = await stores.chunks.by_words(terms, where, START, 100)
    notes = {view.chunk_key: view.note_id for view in await views(stores, terms, where)}
    return [notes[key] for key in keys]


async def views(stores: Stores, terms: Iterable[str], where: NoteFilter = ALL) -> list[ScoringView]:
    return list((await stores.chunks.candidates(a_query(terms=list(terms), where=where))).views)


async def found_keys(stores: Stores, text: str = "tea", **asked: Any) -> set[ChunkKey]:
    """What a question finds by its meaning."""
    found = await stores.chunks.candidates(a_query(vector=vector_of(text), **asked))
    return {view.chunk_key for view in found.views}


# What is stored


async def test_chunks_come_back_in_order_with_everything_stored_beside_them(stores: Stores) -> None:
    text = "One two. Three four. Five six."
    note = a_note(text, pieces=3)
    given = [replace(new, chunk=replace(new.chunk, context="Tea > Times")) for new in chunks_of(text, 3)]

    keys = await stores.notes.write(replace(creation(note, text), chunks=given), at())

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
    )
    assert view.turn == ("c", 3)
    assert not view.is_chunked


async def test_an_unknown_note_has_no_chunks(stores: Stores) -> None:
    unknown = a_note().note_id
    assert await stores.chunks.of_note(unknown) == []
    assert await stores.chunks.show({ChunkKey(99): unknown}, ALL, START) == {}
    assert (await stores.chunks.candidates_of(unknown, a_query())).views == []


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


async def index_at(stores: Stores, revision: int) -> None:
    """Do the job that is due, with an index that holds this revision afterwards."""
    (job,) = await stores.outbox.lease("w", 10, START, 60)
    await stores.outbox.finish(job, START, indexed=revision)


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
@pytest.mark.parametrize(("most_compared", "is_complete"), [(4, True), (3, False), (2, False)])
async def test_where_too_many_would_be_compared_none_is_and_words_alone_answer(
    stores: Stores, most_compared: int, is_complete: bool, compare_all: bool
) -> None:
    for i in range(3):
        await store(stores, f"Tea {i}.")
    await store(stores, "Tea.", tenant="acme")  # another tenant's does not count
    query = a_query(vector=vector_of("tea"), most_compared=most_compared, compare_all=compare_all)

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
    assert ([view.note_id for view in two.views], two.has_more) == ([note.note_id for note in near[:2]], True)


# What the index answered


async def indexed(stores: Stores, text: str, **changes: Any) -> tuple[Note, Neighbour]:
    """A note that the index holds, and how the index answers with its first chunk."""
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


async def test_words_come_in_the_order_in_which_they_were_stored_and_go_with_the_last_note(stores: Stores) -> None:
    def with_words(words: dict[int, str]) -> NoteWrite:
        given = creation(a_note(str(words)), str(words))
        rows = [" ".join(f"{term:08x}" for term in words)]
        return replace(given, chunks=[replace(given.chunks[0], terms=rows, words=words)])

    first = await write(stores, with_words({2: "tea", 4: "milk"}))
    await write(stores, with_words({4: "milk", 6: "water"}))

    found = await stores.chunks.words(0, 10)
    assert [(one.term, one.word) for one in found] == [(2, "tea"), (4, "milk"), (6, "water")]
    assert [one.word for one in await stores.chunks.words(found[0].key, 1)] == ["milk"]

    await stores.notes.purge(first, at(), indexed=True)
    await stores.scrub()
    assert [one.word for one in await stores.chunks.words(0, 10)] == ["milk", "water"]
