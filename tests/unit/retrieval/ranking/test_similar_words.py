"""Stored words similar to a question's: near in meaning, or spelt nearly alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.ports.chunks import StoredWord
from nur.retrieval.ranking.queries import QueryTerm
from nur.retrieval.ranking.similar_words import (
    MAX_SIMILAR,
    MAX_WORDS,
    MEANING_WEIGHT,
    MIN_COSINE,
    SPELLING_WEIGHT,
    UNRANKED_TOKENS,
    SimilarWords,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.ports.embedder import Floats, TokenIds


class Table:
    """One token per word; words that were not named have none, and are similar to nothing."""

    def __init__(self, cosines: dict[str, float] | None = None) -> None:
        """The cosine of each word with the word "asked"."""
        self._words = {"asked": 1.0, **(cosines or {})}
        self.token_vectors: Floats = np.array(
            [(cosine, (1 - cosine**2) ** 0.5) for cosine in self._words.values()], np.float32
        )

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        names = list(self._words)
        return [np.array([names.index(text)] if text in names else [], np.int64) for text in texts]


def stored(words: Sequence[str], table: Table) -> SimilarWords:
    """A store with these words; the term of the first is 100, of the next 102 and so on."""
    found = SimilarWords()
    found.add([StoredWord(place, 100 + 2 * place, word) for place, word in enumerate(words)], table)
    return found


def similarity(asked: str, words: Sequence[str], table: Table | None = None, term: int = 2) -> dict[str, float]:
    """The similarity of each stored word to the one asked for."""
    table = table or Table()
    found = stored(words, table).similar_to([QueryTerm(term, asked, 1.0)], table)
    assert {one.query_id for one in found} <= {term}
    return {words[(one.id - 100) // 2]: one.similarity for one in found if one.similarity > 0}


@pytest.mark.parametrize(
    ("asked", "other", "expected"),
    [
        ("gardens", "gardening", SPELLING_WEIGHT * 6 / 9),
        ("gardeners", "garde", None),  # five of nine letters are less than the least share
        ("abcdef", "abcdeghi", SPELLING_WEIGHT * 5 / 8),
        ("abcdefgh", "abcde", SPELLING_WEIGHT * 5 / 8),
        ("abcdeyyyyy", "abcdexxxxx", None),
        ("abcdefyyyy", "abcdefxxxx", SPELLING_WEIGHT * 6 / 10),  # just enough in common
        ("tear", "teas", None),  # too few letters
        ("cafés", "cafes", 1.0),  # the same word but for an accent
        ("été1", "ete1", None),  # a number among the letters: an identifier
        ("abc", "abc", None),  # shorter than what words are looked up by
    ],
)
def test_words_that_begin_alike_count_by_the_share_in_common(asked: str, other: str, expected: float | None) -> None:
    assert similarity(asked, ["unlike", other]).get(other) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [
        (MIN_COSINE - 0.01, None),
        (MIN_COSINE + 0.01, MEANING_WEIGHT * 0.01 / (1 - MIN_COSINE)),
        (0.7, MEANING_WEIGHT * 0.3 / 0.6),
        (1.0, MEANING_WEIGHT),
    ],
)
def test_words_near_in_meaning_count_from_nothing_at_the_threshold_to_the_weight(
    cosine: float, expected: float | None
) -> None:
    found = similarity("asked", ["near", "other"], Table({"near": cosine}))
    assert found.get("near") == pytest.approx(expected, abs=1e-6)
    assert "other" not in found


def test_the_nearest_words_count_and_the_word_itself_is_none_of_them() -> None:
    cosines = {f"word{letter}": 0.5 + place / 100 for place, letter in enumerate("abcdefghijklmnopqrst")}
    table = Table(cosines)
    words = ["asked", *cosines]
    found = similarity("asked", words, table, term=100)  # the store's own term for it
    assert sorted(found) == sorted(cosines)[-MAX_SIMILAR:]


def test_a_word_that_is_near_and_begins_alike_counts_by_the_larger_similarity() -> None:
    spelling = SPELLING_WEIGHT * 5 / 6
    table = Table({"askedx": 0.5})
    assert similarity("asked", ["askedx"], table)["askedx"] == pytest.approx(spelling)
    table = Table({"askedx": 1.0})
    assert similarity("asked", ["askedx"], table)["askedx"] == pytest.approx(MEANING_WEIGHT)


@pytest.mark.parametrize(
    ("asked", "term"),
    [
        ("asked", 3),  # a word as written
        ("what", 2),  # a function word
    ],
)
def test_function_words_and_words_as_written_have_none(asked: str, term: int) -> None:
    assert similarity(asked, ["whatever", "near"], Table({"near": 1.0}), term=term) == {}


def test_other_scripts_and_very_short_words_are_compared_by_spelling_alone() -> None:
    table = Table({"чайник": 1.0, "чайники": 1.0, "ab": 1.0, "near": 1.0})
    assert similarity("ab", ["near"], table) == {}
    assert similarity("чайник", ["near", "чайники"], table) == {"чайники": pytest.approx(SPELLING_WEIGHT * 6 / 7)}


def test_a_store_without_words_has_none_and_words_added_later_are_found() -> None:
    table = Table({"near": 1.0, "later": 1.0})
    asked = [QueryTerm(2, "asked", 1.0)]
    words = SimilarWords()
    words.add([], table)
    assert (words.room, words.similar_to(asked, table)) == (MAX_WORDS, [])
    words.add([StoredWord(1, 10, "near")], table)
    assert [one.id for one in words.similar_to(asked, table)] == [10]
    assert [one.id for one in words.similar_to(asked, table)] == [10]  # the second time from what is known
    words.add([StoredWord(2, 12, "later")], table)
    assert [one.id for one in words.similar_to(asked, table)] == [10, 12]
    assert words.room == MAX_WORDS - 2


def test_a_word_that_is_read_again_is_added_once() -> None:
    table = Table({"near": 1.0, "later": 1.0})
    asked = [QueryTerm(2, "asked", 1.0)]
    words, near, later = SimilarWords(), StoredWord(4, 10, "near"), StoredWord(7, 12, "later")
    assert [one.id for one in words.read([near], asked, table)] == [10]
    assert [one.id for one in words.read([near, later], asked, table)] == [10, 12]
    assert [one.id for one in words.read([near], asked, table)] == [10, 12]
    assert (words.ids, words.last_key) == ([10, 12], 7)


class Spelling(Table):
    """Spells every word that it was not given in bytes, and has the others behind those."""

    def __init__(self, known: dict[str, float]) -> None:
        super().__init__(known)
        self.token_vectors = np.concatenate([np.full((UNRANKED_TOKENS, 2), 0.5, np.float32), self.token_vectors])

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        return [
            ids + UNRANKED_TOKENS if ids.size else np.arange(len(text))
            for text, ids in zip(texts, super().tokenize(texts), strict=True)
        ]


def test_words_of_other_scripts_are_near_others_only_where_the_model_knows_them() -> None:
    table = Spelling({"деньги": 1.0, "money": 0.95})
    assert similarity("деньги", ["money"], table)["money"] == pytest.approx(MEANING_WEIGHT * 0.55 / 0.6, abs=1e-5)
    assert similarity("слова", ["money", "слово"], table) == {}
