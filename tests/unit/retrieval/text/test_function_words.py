from __future__ import annotations

import pytest

from nur.retrieval.ranking.queries import FUNCTION_WORD_WEIGHT, query_terms, weigh
from nur.retrieval.text.analysis import ANALYZER
from nur.retrieval.text.function_words import FUNCTION_WORDS

QUESTIONS = {
    "what did we pay for the sandwich": {"pay", "sandwich"},
    "combien avons-nous payé pour le sandwich": {"payé", "sandwich"},
    "humne sandwich ke liye kitna paisa diya": {"sandwich", "paisa"},
    "agar barish hogi toh kya hum phir bhi jayenge kyunki ticket waapas nahi hoga": {
        "barish",
        "jayenge",
        "ticket",
        "waapas",
    },
    "हमने सैंडविच के लिए कितना पैसा दिया": {"सैंडविच", "पैसा"},
    "hva betalte vi for smørbrødet": {"betalte", "smørbrødet"},
    "ile zapłaciliśmy za kanapkę": {"zapłaciliśmy", "kanapkę"},
    "wie viel haben wir für das Brot bezahlt": {"viel", "brot", "bezahlt"},
    "cuánto pagamos por el bocadillo": {"pagamos", "bocadillo"},
    "сколько мы заплатили за бутерброд": {"заплатили", "бутерброд"},
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_names_something_is_told_from_what_holds_the_question_together(question: str) -> None:
    content = {term.word for term in query_terms(question, ANALYZER) if term.importance == 1.0}
    assert content == QUESTIONS[question]


def test_a_function_word_weighs_little_in_a_store_that_does_not_have_it() -> None:
    terms = query_terms("kitna sandwich", ANALYZER)
    weights = dict(zip([term.word for term in terms], weigh(terms, {}, 1_000).weights.tolist(), strict=False))
    assert weights["kitna"] == pytest.approx(FUNCTION_WORD_WEIGHT * weights["sandwich"])


@pytest.mark.parametrize(
    "word", ["car", "war", "van", "men", "ten", "tab", "ville", "mange", "mars", "kar", "dig", "kunde", "jab", "hue"]
)
def test_content_words_of_another_language_are_no_function_words(word: str) -> None:
    assert word not in FUNCTION_WORDS


def test_function_words_are_compared_as_questions_are() -> None:
    assert {word.casefold() for word in FUNCTION_WORDS} == FUNCTION_WORDS
