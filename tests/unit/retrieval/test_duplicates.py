from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.retrieval.duplicates import fold_duplicates
from tests.candidates import a_ranked

REPORT = (
    "The quarterly report of the harbour authority says that fewer ships than last year have called, that dredging of "
    "the northern channel is late, and that the new crane will be tested in spring before it is handed over to its crew"
)


@pytest.mark.parametrize(
    ("other", "folded"),
    [
        (REPORT, True),  # the same text from another source
        (REPORT.upper(), True),  # case is no difference
        (REPORT + ". Thanks!", True),  # a word more among thirty
        (REPORT.replace("harbour authority", "town council of Riga, in short"), False),  # another subject
        ("Cranes are birds.", False),  # nothing alike
        (REPORT + " 12", False),  # a number that the other lacks
    ],
)
def test_almost_the_same_text_is_folded_into_the_better_hit(other: str, folded: bool) -> None:
    better, worse = a_ranked(REPORT, 0.9), a_ranked(other, 0.8)
    hits = fold_duplicates([better, worse], 5)
    assert hits[0].shown is better
    assert hits[0].duplicates == ((worse,) if folded else ())
    assert len(hits) == (1 if folded else 2)


def test_notes_that_differ_in_a_number_are_two_facts() -> None:
    sprints = [a_ranked(f"Sprint {number}: {REPORT}") for number in (12, 13)]
    assert [hit.duplicates for hit in fold_duplicates(sprints, 5)] == [(), ()]


def test_documents_that_share_a_page_are_two_unless_they_are_cut_alike() -> None:
    one, two, three = (a_ranked(REPORT, pieces=pieces) for pieces in (3, 7, 3))
    assert [hit.duplicates for hit in fold_duplicates([one, two, three], 5)] == [(three,), ()]


def test_the_order_stays_and_every_duplicate_is_counted_once() -> None:
    ranked = [a_ranked("Bread"), a_ranked(REPORT), a_ranked("Salt"), a_ranked(REPORT), a_ranked(REPORT)]
    hits = fold_duplicates(ranked, 5)
    assert [hit.shown for hit in hits] == ranked[:3]
    assert hits[1].duplicates == (ranked[3], ranked[4])


def test_looking_ends_when_enough_are_found_and_duplicates_never_fill_the_answer() -> None:
    ranked = [*(a_ranked(REPORT) for _ in range(30)), *(a_ranked(word) for word in ("Bread", "Salt", "Jam"))]
    assert [hit.shown for hit in fold_duplicates(ranked, 3)] == [ranked[0], *ranked[30:]]
    late = [*(a_ranked(f"Text {number}") for number in range(9)), a_ranked("Salt"), a_ranked("Salt")]
    assert len(fold_duplicates(late, 2)) == len(late)


@given(st.lists(st.sampled_from([REPORT, REPORT + " again", "Salt", "", "7"]), max_size=12))
def test_nothing_is_lost_and_nothing_is_there_twice(texts: list[str]) -> None:
    ranked = [a_ranked(text) for text in texts]
    hits = fold_duplicates(ranked, 5)
    kept = [one.note_id for hit in hits for one in (hit.shown, *hit.duplicates)]
    assert sorted(kept) == sorted(one.note_id for one in ranked)
