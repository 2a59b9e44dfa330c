from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nur.domain.notes import Kind
from nur.retrieval.ranking.grouping import fold_duplicates, lookalikes
from tests.candidates import a_read, ranked_as, view_of
from tests.store_notes import START

if TYPE_CHECKING:
    from nur.ports.chunks import ChunkWithNote

MEMO = "The harbour crane will be tested in spring by its new crew"
WORDS = [
    *("Anna", "Ben", "owes", "the", "contract", "with", "Alpha", "Ltd", "Monday", "Thursday", "not", "never", "no"),
    *("5433", "1.24", "-5", "5", "3.5", "35", "v2", "km", "MB", "Mb", "is", "don't", "do", "café", "Москва", "東京"),
    *("大阪", "нет", "C++", "C#", "a/b", "€5", "$5", "50%", "ну", "не"),
]
#: No number with a space behind it: the case of a unit counts.
PLAIN = ["anna", "owes", "ben", "the", "contract", "with", "москва", "straße", "東京", "café", "v2", "x/y"]


def groups(*read: ChunkWithNote) -> list[list[str]]:
    """The texts of each hit, the one that is shown first."""
    ranked = [ranked_as(view_of(one), score=1 - place / 100) for place, one in enumerate(read)]
    keys = set(lookalikes([one.candidate for one in ranked]))
    existing = {one.stored.chunk_key: one for one in read if one.stored.chunk_key in keys}
    texts = {one.note.public_id: one.stored.chunk.content for one in read}
    return [
        [texts[one.candidate.public_id] for one in (hit.shown, *hit.duplicates)]
        for hit in fold_duplicates(ranked, existing)
    ]


def are_one(one: str, other: str, **changes: Any) -> bool:
    return len(groups(a_read(one), a_read(other, **changes))) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We meet every Monday.", "We meet every Thursday."),  # another weekday
        ("A contract with Alpha Ltd.", "A contract with Beta Ltd."),  # another name
        ("Sprint 12 ended late", "Sprint 13 ended late"),  # another number
        ("Anna owes Ben money", "Ben owes Anna money"),  # another order
        ("We deploy on Fridays", "We do not deploy on Fridays"),  # a negation
        ("They can deploy", "They can't deploy"),
        ("The file has 5 MB", "The file has 5 Mb"),  # another unit
        ("The file has 5MB", "The file has 5Mb"),
        ("It is 5 degrees", "It is -5 degrees"),
        ("It is 5 long", "It is 5' long"),
        ("We build with Go 1.23", "We build with Go 1.24"),  # another version
        ("It costs 3.5", "It costs 35"),
        ("It costs $5", "It costs €5"),
        ("Written in C++", "Written in C#"),
        ("Call getUserName", "Call getusername"),  # another identifier
        ("Anna signed it.", "Anna signed it?"),  # a question
        ("[ ] Pay the rent", "[x] Pay the rent"),
        ("Er trank in Maßen", "Er trank in Massen"),  # casefolding would make them one
        ("!!!", "..."),
        ("東京に行く", "東京に行かない"),
        (MEMO, f"{MEMO}. Thanks!"),
    ],
)
def test_notes_that_say_different_things_are_two_hits(one: str, other: str) -> None:
    assert not are_one(one, other)


@pytest.mark.parametrize(
    "other",
    [MEMO, MEMO.upper(), f"{MEMO}.", f"{MEMO}!", f"“{MEMO}”", MEMO.replace(" ", "\n  "), MEMO.replace(" in", ", in")],
)
def test_notes_that_say_the_same_are_one_hit(other: str) -> None:
    assert are_one(MEMO, other)


@pytest.mark.parametrize(
    "meta", [{"title": "Alpha"}, {"author": "Ben"}, {"role": "user"}, {"project": "x"}, {"kind": Kind.NOTE}]
)
def test_what_is_said_elsewhere_or_by_another_is_another_hit(meta: dict[str, Any]) -> None:
    assert not are_one(MEMO, MEMO, **meta)


def test_what_happens_twice_is_two_events() -> None:
    first, second = (a_read("Restarted.", kind=Kind.EVENT, occurred_at=START + timedelta(days=day)) for day in (0, 1))
    assert len(groups(first, second)) == 2


def test_documents_that_share_a_page_are_two_unless_their_whole_texts_are_the_same() -> None:
    page = [a_read(MEMO, pieces=3, content_hash=text) for text in ("one", "another", "one")]
    assert len(groups(*page)) == 2


def test_the_newest_is_shown_wherever_it_was_ranked() -> None:
    old, new = (a_read(f"{MEMO}{end}", occurred_at=START + timedelta(days=day)) for day, end in ((0, "."), (1, "!")))
    assert groups(old, new) == groups(new, old) == [[f"{MEMO}!", f"{MEMO}."]]
    stored_later = a_read(MEMO, occurred_at=START + timedelta(days=1), ingested_at=START + timedelta(days=9))
    assert groups(new, stored_later)[0][0] == MEMO


def test_of_turns_the_best_is_shown() -> None:
    best, newer = (
        a_read(f"Yes{end}", kind=Kind.TURN, ingested_at=START + timedelta(day)) for day, end in enumerate(".!")
    )
    assert groups(best, newer) == [["Yes.", "Yes!"]]


def test_the_order_of_hits_is_the_order_of_what_is_shown() -> None:
    old, salt, new = a_read(MEMO), a_read("Salt"), a_read(MEMO, ingested_at=START + timedelta(days=1))
    assert groups(old, salt, new) == [["Salt"], [MEMO, MEMO]]


def test_only_lookalikes_have_to_be_read() -> None:
    texts = ("Anna owes Ben", "Ben owes Anna", "Salt")
    views = [view_of(one) for one in map(a_read, texts)]
    assert lookalikes(views) == [view.chunk_key for view in views[:2]]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), st.lists(st.sampled_from(WORDS), max_size=6))
def test_other_words_or_another_order_are_never_folded(one: list[str], other: list[str]) -> None:
    assume(one != other)
    assert not are_one(" ".join(one), " ".join(other))


@given(st.data(), st.lists(st.sampled_from(PLAIN), min_size=1, max_size=8))
def test_case_spaces_and_punctuation_make_no_difference(data: st.DataObject, words: list[str]) -> None:
    def written(word: str) -> str:
        case = data.draw(st.sampled_from([str.lower, str.capitalize]))
        before = data.draw(st.sampled_from(["", '"', "(", "«", "“"]))
        after = data.draw(st.sampled_from(["", ".", ",", ";", ":", "!", "…", ").", "。"]))
        return f"{before}{case(word)}{after}{data.draw(st.sampled_from([' ', '  ', chr(10)]))}"

    assert are_one(" ".join(words), "".join(written(word) for word in words))


@given(st.lists(st.sampled_from([MEMO, f"{MEMO}!", "Salt", "salt", "", "7"]), max_size=12))
def test_nothing_is_lost_and_nothing_is_there_twice(texts: list[str]) -> None:
    kept = [text for group in groups(*map(a_read, texts)) for text in group]
    assert sorted(kept) == sorted(texts)
