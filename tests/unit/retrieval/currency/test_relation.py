"""How two memories stand to each other."""

from __future__ import annotations

import pytest

from nur.domain.decisions import Relation
from nur.retrieval.currency.relation import MAX_CHARACTERS, MAX_WORDS, content_words, lookup_terms, relation, shared


@pytest.mark.parametrize(
    ("newer", "older", "expected"),
    [
        ("Aga drinks green tea at work.", "At work Aga drinks green tea.", Relation.SAME),
        ("Aga drinks green tea at work.", "Aga drinks green tea at work at 9:30.", Relation.OTHER),  # another value
        ("Aga does not drink green tea.", "Aga drinks green tea.", Relation.CONFLICT),
        ("Aga never drinks green tea.", "Aga does not drink green tea.", Relation.SAME),  # both deny
        ("Aga drinks green tea at work.", "The harbour office opens on Monday.", None),
        # A name alone in common is too little, unless the newer one reports a change and is short.
        ("Aga bought lamps, curtains, chairs, rugs, cups.", "Aga sold spoons, plates, forks, knives, pans.", None),
        ("Aga now buys lamps, curtains, chairs.", "Aga sold spoons, plates, forks.", Relation.OTHER),
        ("", "", None),
    ],
)
def test_memories_are_the_same_or_about_the_same_thing_or_unrelated(
    newer: str, older: str, expected: Relation | None
) -> None:
    assert relation(newer, older) is expected


def test_long_texts_are_about_many_things_and_not_compared() -> None:
    text = "Aga drinks tea. " * 200
    assert relation(text[:MAX_CHARACTERS], text[:MAX_CHARACTERS]) is Relation.SAME
    assert relation(text[: MAX_CHARACTERS + 1], text[:MAX_CHARACTERS]) is None
    assert relation(text[:MAX_CHARACTERS], text[: MAX_CHARACTERS + 1]) is None
    assert lookup_terms(text[:MAX_CHARACTERS])
    assert lookup_terms(text[: MAX_CHARACTERS + 1]) == []


def test_memories_are_looked_up_by_names_and_numbers_first() -> None:
    plain = " ".join(f"w{letter}rd" for letter in "abcdefghijklmnop")
    found = lookup_terms(f"{plain} Aga 17")
    assert len(found) == MAX_WORDS
    assert found[:2] == lookup_terms("Aga 17")


def test_function_words_tell_nothing_and_names_and_numbers_tell_twice() -> None:
    assert sorted(content_words("What did Aga see in room 17?").values()) == [1.0, 1.0, 2.0, 2.0]
    assert content_words("what did the a b") == {}


def test_the_shorter_ones_words_are_what_can_be_shared() -> None:
    one, other = {1: 2.0, 2: 1.0}, {1: 2.0, 3: 1.0, 4: 3.0}
    assert shared(one, other) == pytest.approx(2 / 3)
    assert shared(other, one) == pytest.approx(2 / 3)
    assert shared(one, {}) == 0.0
