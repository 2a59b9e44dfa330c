"""Whether a text is English, and whether the sentence models know its language."""

from __future__ import annotations

import pytest

from nur.retrieval.text.function_words import is_english, is_known


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When does the train leave?", True),
        ("À quelle heure part le train de Lyon et de Dijon ?", True),  # "de" and "et" are Scandinavian words, too
        ("Поезд уходит в семь", True),
        ("電車は七時に出る", True),
        ("OPENAI_API_KEY=sk-1", True),
        ("Kal office kab jaana hai?", False),  # Hindi in Latin letters
        ("ट्रेन कब जाती है?", False),
        ("Når går toget til Bergen, og hva koster det?", False),
        ("Πότε φεύγει το τρένο;", False),
        ("Khi nào tàu khởi hành từ Hà Nội?", False),
        ("The Greek word λόγος means word or reason", True),  # a word of another script changes nothing
    ],
)
def test_the_multilingual_model_knows_sixteen_languages(text: str, expected: bool) -> None:
    assert is_known(text) == expected
