"""Whose turns a question is about."""

from __future__ import annotations

import pytest

from nur.retrieval.ranking.asked_speaker import ASSISTANT, USER, asked_speaker


@pytest.mark.parametrize(
    "question",
    [
        "what did you recommend for the valve?",
        "how did you tell me to clean it?",  # a report, not the request "tell me"
        "how did you want me to clean it?",
        "ta mise en garde sur les oiseaux ?",
        "tumhare hisaab se pehle kya karna tha?",
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
    assert asked_speaker("can you tell me when the bins go out?") == (USER, False)


@pytest.mark.parametrize(
    "question",
    [
        "was it you or me that came up with it?",
        "which of us wanted the red one?",
        "lequel de nous deux voulait le rouge ?",
        "what did I answer when you suggested the red one?",  # the user's turn, or the one before it
        "comment j'ai réagi quand tu as parlé du rouge ?",
    ],
)
def test_either_may_have_said_it(question: str) -> None:
    assert asked_speaker(question) == (None, True)


@pytest.mark.parametrize("question", ["what did I say about the fence?", "I once told the plumber what?"])
def test_what_i_said_is_in_the_users_turns(question: str) -> None:
    assert asked_speaker(question) == (USER, True)


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("what did the doctor say about the knee?", None),
        ("what ought visitors to be warned of?", None),
        ("how long have I got to say yes?", USER),
        ("when are we told to leave?", USER),
    ],
)
def test_what_others_said_may_be_anywhere(question: str, role: str | None) -> None:
    assert asked_speaker(question) == (role, False)
