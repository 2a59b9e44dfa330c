"""Whether a text is English."""

from __future__ import annotations

import pytest

from nur.retrieval.text.function_words import is_english


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When does the train leave?", True),
        ("À quelle heure part le train ?", False),
        ("Wann fährt der Zug?", False),
        ("ট্রেন কখন ছাড়ে?", False),  # no function word that is known, and not ASCII
        ("Kal office kab jaana hai?", False),  # Hindi in Latin letters
        ("Bestemor har vondt i kneet", False),  # a small "i" is a word of many languages
        ("I think I left it there", True),
        ("OPENAI_API_KEY=sk-1", True),  # no words of either: plain ASCII
        ("We met Zoë at the café in Köln", True),  # accents alone do not decide
    ],
)
def test_a_texts_function_words_tell_its_language(text: str, expected: bool) -> None:
    assert is_english(text) is expected
