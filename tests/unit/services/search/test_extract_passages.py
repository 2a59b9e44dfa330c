"""How passages share the budget of an answer, sentence by sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nur.domain.search import Passage
from nur.retrieval.ranking.grouping import HitGroup
from nur.services.search.extract_passages import (
    _first_sentences,
    _first_words,
    _fitting,
    _opening,
    _passage_budget,
    _passage_chunks,
    _within,
    chunk_id_of,
)
from tests.candidates import a_candidate, a_ranked, a_read, ranked_as, view_of
from tests.store_notes import a_note
from tests.unit.services.conftest import a_request

if TYPE_CHECKING:
    from nur.retrieval.ranking.rank import Ranked

LONG = "A long note. " * 60
FIRST, SECOND = "Tea is at four.", "Milk goes into it."
BOTH = f"{FIRST} {SECOND}"


def a_passage(text: str, start: int = 100) -> Passage:
    return Passage(text, start, start + len(text), 0.5)


def a_long_one() -> Ranked:
    return a_ranked(LONG)


@pytest.mark.parametrize(
    ("characters", "text"),
    [
        (len(BOTH) + 1, BOTH),
        (len(BOTH), BOTH),
        (len(BOTH) - 1, FIRST),
        (len(FIRST) + 1, FIRST),  # with the space behind it
        (len(FIRST), ""),
        (0, ""),
        (-5, ""),
    ],
)
def test_a_passage_is_cut_between_sentences(characters: int, text: str) -> None:
    cut = _first_sentences(a_passage(BOTH), characters)
    assert (cut.text, cut.start_char, cut.end_char) == (text, 100, 100 + len(text))


@pytest.mark.parametrize(
    ("characters", "text"), [(6, "Tea is"), (7, "Tea is"), (5, "Tea"), (3, "Tea"), (2, "Tea"), (0, "Tea"), (-1, "Tea")]
)
def test_a_sentence_that_does_not_fit_is_cut_between_words(characters: int, text: str) -> None:
    cut = _first_words(a_passage(FIRST), characters)
    assert (cut.text, cut.start_char, cut.end_char) == (text, 100, 100 + len(text))


def test_passages_fill_what_there_is_best_first() -> None:
    best, other = a_passage(FIRST), a_passage(BOTH, 500)
    assert _fitting([best, other], 1000, strictly=True) == [best, other]
    cut = Passage(FIRST, 500, 500 + len(FIRST), 0.5)
    assert _fitting([best, other], 2 * len(FIRST) + 1, strictly=True) == [best, cut]
    assert _fitting([best, other], 2 * len(FIRST), strictly=True) == [best]
    assert [one.text for one in _fitting([best, other], 7, strictly=True)] == ["Tea is"]


def test_the_first_hit_is_served_first_and_leaves_some_words_for_others() -> None:
    hits = [(a_long_one(), [a_passage(BOTH)]) for _ in range(3)]
    room = 3 * len(BOTH)
    assert [own[0].text for own in _within(hits, room, strictly=True)] == [BOTH] * 3
    # Two hits after the first are left an eighth each, 5 of 40: the first has 30, a sentence.
    assert [own[0].text for own in _within(hits, 40, strictly=True)] == [FIRST, FIRST, "Tea is at"]
    assert [own[0].text for own in _within(hits, 0, strictly=True)] == ["Tea"] * 3


def test_without_neighbours_every_hit_has_its_best_passage() -> None:
    other = a_passage("Yes.", 500)
    hits = [(a_long_one(), [a_passage(BOTH), other]), (a_long_one(), [a_passage(BOTH), other])]
    shown = _within(hits, len(BOTH) + len(other.text), strictly=False)
    assert [[one.text for one in own] for own in shown] == [[BOTH, "Yes."], [BOTH]]


def test_what_is_left_for_each_hit_is_bounded() -> None:
    long = "word " * 200
    hits = [(a_long_one(), [a_passage(long.strip())]) for _ in range(2)]
    first, second = _within(hits, 500, strictly=True)
    assert 500 - 40 - len("word ") < len(first[0].text) <= 500 - 40
    assert len(first[0].text) + len(second[0].text) <= 500


def test_hits_behind_the_tenth_have_nothing_left_for_them() -> None:
    long = "word " * 200
    hits = [(a_long_one(), [a_passage(long.strip())]) for _ in range(12)]
    lengths = [len(own[0].text) for own in _within(hits, 500, strictly=True)]
    assert 500 - 9 * (500 // 36) - len("word ") < lengths[0] <= 500 - 9 * (500 // 36)
    assert lengths[10:] == [len("word")] * 2


def test_a_short_note_is_shown_whole_and_spends_the_budget() -> None:
    short = (a_ranked(BOTH), [a_passage(BOTH)])
    long = (a_long_one(), [a_passage(BOTH)])
    assert [own[0].text for own in _within([short, long], len(BOTH) + len(FIRST), strictly=True)] == [BOTH, FIRST]
    assert [own[0].text for own in _within([short, short], 1, strictly=True)] == [BOTH, BOTH]


@pytest.mark.parametrize(
    ("expand", "hits", "max_chars", "expected"),
    [
        (False, 5, 2000, 2000),
        (True, 5, 2001, 667),
        (True, 20, 2000, 20 * 60),
        (True, 5, 200, 200),
    ],
)
def test_neighbours_leave_a_third_for_passages(expand: bool, hits: int, max_chars: int, expected: int) -> None:
    assert _passage_budget(a_request("tea", expand_neighbors=expand, max_chars=max_chars), hits) == expected


def test_a_hit_without_a_passage_shows_its_opening() -> None:
    text = " ".join(f"Sentence {place} of the note." for place in range(40))
    assert len(text) > 600
    read = a_read(text)
    shown = _opening(ranked_as(view_of(read), 0.7), {read.stored.chunk_key: read})
    assert (shown.start_char, shown.end_char, shown.score) == (0, len(shown.text), 0.7)
    assert text.startswith(shown.text)
    assert shown.text.endswith("of the note. ")
    assert 160 - len(" Sentence 99 of the note.") < len(shown.text) <= 160


def test_an_opening_has_at_least_a_sentence_and_a_short_note_is_whole() -> None:
    sentence = "word " * 60 + "end."
    read = a_read(f"{sentence} " + "More. " * 60)
    assert _opening(ranked_as(view_of(read)), {read.stored.chunk_key: read}).text == f"{sentence} "
    short = a_read(BOTH)
    assert _opening(ranked_as(view_of(short)), {short.stored.chunk_key: short}).text == BOTH


def test_passages_are_taken_from_long_notes_among_the_best_hits() -> None:
    best = [a_ranked(LONG, note=a_note(LONG)) for _ in range(11)]
    short, whole = a_ranked("x" * 600), a_ranked("x" * (600 + 1))
    part = ranked_as(a_candidate("Part.", a_note("Part.", pieces=2)))
    groups = [HitGroup(one, ()) for one in (short, whole, part, *best)]
    ranked = [group.shown for group in groups]
    assert _passage_chunks(ranked, groups) == [whole, part, *best[:7]]  # ten hits, one of them short
    many = [
        ranked_as(a_candidate("Part.", part_of, index)) for part_of in [a_note("x", pieces=99)] for index in range(70)
    ]
    assert len(_passage_chunks(many, [HitGroup(many[0], ())])) == 60


def test_a_chunk_of_a_cut_note_has_an_id_of_its_own() -> None:
    whole, part = a_read("Tea."), a_read("Tea.", a_note("Tea.", pieces=2), 1)
    assert chunk_id_of(whole) == whole.note.public_id
    assert chunk_id_of(part).startswith(f"{part.note.public_id}::chunk::001::")
