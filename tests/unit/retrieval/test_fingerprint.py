"""Fingerprints: notes with nearly the same words share bands, others do not."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from nur.retrieval.fingerprint import BANDS, FINGERPRINT, bands
from tests.store_notes import a_note

if TYPE_CHECKING:
    from nur.domain.notes import Note

WORDS = [f"word{number}x" for number in range(10_000)]
SHORT = a_note()
LONG = a_note(pieces=2)


def shared(one: str, other: str, note: Note = SHORT) -> int:
    """How many bands two texts share, as texts of a note of this length."""
    return len(set(bands(note, one)) & set(bands(note, other)))


@pytest.mark.parametrize(
    "other",
    [
        "Tea is drunk at four.",
        "tea is drunk at FOUR",  # case and marks
        "At four, tea is drunk.",  # order
        "Tea is drunk at four, at four!",  # repetition
    ],
)
def test_the_same_words_give_the_same_bands(other: str) -> None:
    assert shared("Tea is drunk at four.", other) == BANDS


def test_scripts_without_spaces_are_read_by_the_character() -> None:
    assert shared("我们四点喝茶。", "我们在四点喝茶。") > 0
    assert shared("我们四点喝茶。", "图书馆今天关门") == 0


def test_short_notes_with_other_numbers_share_nothing() -> None:
    text = "Invoice {} of the harbour office was paid by bank transfer on Monday."
    assert shared(text.format(1), text.format(2)) == 0
    assert shared(text.format(1), text.format(1) + " Yes.") > 0
    assert shared(text.format(1), text.format(2), LONG) > 0  # a long note holds many numbers


def test_a_text_without_words_has_no_bands() -> None:
    assert bands(SHORT, "?! …") == []


@pytest.mark.parametrize(("common", "least", "most"), [(0.8, 0.9, 1.0), (0.3, 0.0, 0.25)])
def test_pairs_are_candidates_as_often_as_they_share_words(common: float, least: float, most: float) -> None:
    """The shares are those of the module's docstring; the words are drawn with a fixed seed."""
    draw = random.Random(4)
    pairs, found = 400, 0
    for _ in range(pairs):
        words = draw.sample(WORDS, 200)
        union = 100
        both = round(common * union)
        own, other = words[both : both + (union - both) // 2], words[union : union + (union - both) // 2]
        found += shared(" ".join(words[:both] + own), " ".join(words[:both] + other), LONG) > 0
    assert least <= found / pairs <= most


def test_stored_bands_stay_valid() -> None:
    """Stores keep bands. Whatever changes them needs another version of the deriver, so that they are made again."""
    assert FINGERPRINT.version == 1
    assert [band.band_hash for band in bands(SHORT, "Tea is drunk at 4.")] == [
        -2040216803645226579,
        -1185886000940771308,
        -5197261128213081015,
        7872377145464077537,
    ]
