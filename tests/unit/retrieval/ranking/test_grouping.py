from __future__ import annotations

from nur.retrieval.ranking.grouping import best_notes
from tests.candidates import a_ranked
from tests.store_notes import a_note


def test_a_note_is_shown_once_by_its_best_chunk() -> None:
    note = a_note(pieces=2)
    best, other = a_ranked("One half.", 0.9, note=note), a_ranked("Other half.", 0.8, note=note, index=1)
    assert best_notes([best, other], None).notes == [best]


def test_what_is_below_the_floor_is_not_shown() -> None:
    good, bad = a_ranked("Bread", 0.30), a_ranked("Salt", 0.29)
    listed = best_notes([good, bad], 0.3)
    assert listed.notes == [good]
    assert listed.reached_floor


def test_who_speaks_does_not_lift_a_candidate_over_the_floor() -> None:
    assert best_notes([a_ranked(score=0.35, bonus=0.1)], 0.3).notes == []


def test_a_candidate_that_was_never_compared_by_meaning_is_let_through() -> None:
    listed = best_notes([a_ranked(score=0.1, cosine=None)], 0.3)
    assert len(listed.notes) == 1
    assert not listed.reached_floor


def test_without_a_floor_everything_is_shown() -> None:
    listed = best_notes([a_ranked("Bread", 0.0), a_ranked("Salt", -0.2)], None)
    assert (len(listed.notes), listed.reached_floor) == (2, False)


def test_what_supersedes_an_answer_is_one_whatever_its_words() -> None:
    older, newer, other = a_ranked("Keypad: 9052", 0.5), a_ranked("Now 3386", 0.1), a_ranked("Salt", 0.1)
    names = [one.candidate.public_id for one in (older, newer, other)]
    assert best_notes([older, newer, other], 0.3, {names[0]: [names[1]]}).notes == [older, newer]
    assert best_notes([newer, other], 0.3, {names[0]: [names[1]]}).notes == []  # the older one is no answer itself


def test_what_may_update_the_best_answer_is_one_whatever_its_words() -> None:
    best, other, change = a_ranked("Accountant: Barry", 0.5), a_ranked("Salt", 0.4), a_ranked("Now Priti", 0.1)
    names = [one.candidate.public_id for one in (best, other, change)]
    assert best_notes([best, other, change], 0.3, updated_by={names[0]: [names[2]]}).notes == [best, other, change]
    assert best_notes([best, other, change], 0.3, updated_by={names[1]: [names[2]]}).notes == [best, other]
