"""Whose turns a question is about."""

from __future__ import annotations

import pytest

from nur.retrieval.ranking.asked_speaker import ASSISTANT, USER, asked_speaker


@pytest.mark.parametrize(
    "question",
    [
        "what did you recommend for the valve?",
        "tu m'avais dit de faire quoi comme papier ?",
        "Was hast du zum Vortrag gesagt?",
        "msg karne ki salah di thi tune, kitni baar",
        "hva foreslo du for tittelen?",
    ],
)
def test_what_you_said_is_the_assistants(question: str) -> None:
    assert asked_speaker(question) == (ASSISTANT, True)


@pytest.mark.parametrize("question", ["when did I buy the van?", "quand est-ce que j'ai acheté la voiture ?"])
def test_what_i_did_is_the_users(question: str) -> None:
    assert asked_speaker(question) == (USER, False)


@pytest.mark.parametrize(
    "question",
    [
        "c'est quoi le numéro de série du laminoir ?",  # German: you
        "la petite bête a eu sa piqûre quand ?",  # Norwegian: said
        "apni weekly holiday kaunse din hai",  # Norwegian: your
        "shatranj kaun sikhata hai aur kaha",  # where, not: said
        "wie heißt der Mann an der Bar, die am See steht?",
    ],
)
def test_words_of_other_languages_ask_about_nobody(question: str) -> None:
    assert asked_speaker(question) == (None, False)


def test_a_plea_to_the_assistant_is_no_question_about_it() -> None:
    assert asked_speaker("can you tell me when the bins go out?") == (USER, True)
    assert asked_speaker("was it you or me that came up with it?") == (None, True)
