"""Words of other languages have the vectors of English ones."""

from __future__ import annotations

import numpy as np
import pytest

from nur.adapters.local.embedder import PackagedTokens
from nur.adapters.local.english_words import EnglishTokens, in_english, read_table
from nur.retrieval.pieces.vectors import mean_vectors

WORDS = {"médecin": "doctor physician", "schlüssel": "keys key"}


@pytest.fixture(scope="module")
def plain() -> PackagedTokens:
    return PackagedTokens()


@pytest.fixture(scope="module")
def tokens(plain: PackagedTokens) -> EnglishTokens:
    return EnglishTokens(plain)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Le médecin arrive.", "Le doctor physician arrive."),
        ("MÉDECIN", "doctor physician"),
        ("me\u0301decin", "doctor physician"),  # an accent as a sign of its own
        ("der Schlüssel, bitte", "der keys key, bitte"),
        ("Les médecins et un-médecin_x", "Les médecins et un-doctor physician_x"),
        ("What does médecin mean?", "What does médecin mean?"),  # English text stays as it is
        ("The doctor comes at 8.", "The doctor comes at 8."),
        ("", ""),
    ],
)
def test_known_words_are_replaced_and_nothing_else(text: str, expected: str) -> None:
    assert in_english(text, WORDS) == expected


def test_the_table_has_english_words_for_others_and_none_for_english_ones() -> None:
    table = read_table()
    assert len(table) > 50_000
    assert "physician" in table["médecin"].split()
    assert "key" in table["schlüssel"].split()
    assert "money" in table["деньги"].split()
    assert table.keys().isdisjoint(("doctor", "house", "the", "meeting", "caroline"))
    assert all(word == word.casefold() for word in table)
    assert all(near.replace(" ", "").isascii() for near in table.values())


@pytest.mark.parametrize(("one", "other"), [("médecin", "docteur"), ("médecin", "doctor"), ("деньги", "money")])
def test_words_of_one_meaning_are_near_whatever_their_language(
    plain: PackagedTokens, tokens: EnglishTokens, one: str, other: str
) -> None:
    before, now = ((vectors[0] @ vectors[1]) for vectors in (mean_vectors([one, other], t) for t in (plain, tokens)))
    assert now > 0.7 > before


def test_an_english_text_has_the_tokens_that_it_has_without_the_table(
    plain: PackagedTokens, tokens: EnglishTokens
) -> None:
    text = "Caroline said that the meeting was moved to Tuesday, 8:30, because of Bob's train."
    assert np.array_equal(tokens.tokenize([text])[0], plain.tokenize([text])[0])
    assert tokens.token_vectors is plain.token_vectors
