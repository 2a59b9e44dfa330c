"""The table of common words of other languages."""

from __future__ import annotations

import pytest

from nur.adapters.local.common_words import CommonWords


@pytest.mark.parametrize("word", ["veux", "brauche", "ahora", "нужно"])
def test_everyday_words_are_common(word: str) -> None:
    assert 0.001 < CommonWords().share(word) < 1


@pytest.mark.parametrize("word", ["laminoir", "kotflügel", "thicknesser", ""])
def test_rare_and_english_words_are_not(word: str) -> None:
    assert CommonWords().share(word) == 0


def test_function_words_are_the_commonest() -> None:
    words = CommonWords()
    assert words.share("vous") > words.share("voiture") > words.share("voiturier")
