"""Values in texts, and which utterances give the asked thing different ones."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from nur.retrieval.currency.slots import REACH, ValueKind, asked_kinds, asks_value, find_values, same_slot
from nur.retrieval.currency.utterances import Utterance, term_shares
from nur.retrieval.ranking.queries import query_terms, weigh
from nur.retrieval.text.analysis import ANALYZER

QUESTION = "How many lamps hang in the long hall?"


def slot(*texts: str, question: str = QUESTION, scores: tuple[float, ...] = ()) -> list[int]:
    shares = term_shares(weigh(query_terms(question, ANALYZER), {}, 1000))
    known = scores or (0.8,) * len(texts)
    utterances = [
        Utterance(f"mem_{place}", text, 0, (datetime(2026, 1, 1, tzinfo=UTC), place), score, True)
        for place, (text, score) in enumerate(zip(texts, known, strict=True))
    ]
    return same_slot(question, shares, utterances)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at 7:30 pm", [(ValueKind.TIME, "7:30pm", 3, 10)]),
        ("on May 3rd", [(ValueKind.DATE, "may3rd", 3, 10)]),
        ("2026-05-03", [(ValueKind.DATE, "2026-05-03", 0, 10)]),
        ("on Mondays", [(ValueKind.WEEKDAY, "mondays", 3, 10)]),
        ("12.5 percent", [(ValueKind.PERCENT, "12.5percent", 0, 12)]),
        ("$1,200", [(ValueKind.MONEY, "$1200", 0, 6)]),
        ("v1.2.3", [(ValueKind.VERSION, "v1.2.3", 0, 6)]),
        ("1,200 lamps", [(ValueKind.NUMBER, "1200", 0, 5)]),
        ("three lamps", [(ValueKind.NUMBER, "3", 0, 5)]),
        ("12 lamps and 5%", [(ValueKind.NUMBER, "12", 0, 2), (ValueKind.PERCENT, "5%", 13, 15)]),  # in their order
        ("no value", []),
    ],
)
def test_values_are_found_once_with_their_kind(text: str, expected: list[tuple[ValueKind, str, int, int]]) -> None:
    assert [(one.kind, one.value, one.start, one.end) for one in find_values(text)] == expected


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("What time is dinner?", (ValueKind.TIME, ValueKind.NUMBER)),
        ("What version is it?", (ValueKind.VERSION,)),
        ("Which one?", tuple(ValueKind)),  # it may ask for anything
    ],
)
def test_a_question_asks_for_kinds_of_values(question: str, kinds: tuple[ValueKind, ...]) -> None:
    assert asked_kinds(question) == kinds


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many lamps are there?", True),
        ("How many lamps were there originally?", False),
        ("Tell me of lamps", False),
    ],
)
def test_only_a_question_for_the_current_value_asks_for_one(question: str, expected: bool) -> None:
    assert asks_value(question) is expected


def test_utterances_with_different_values_share_a_slot() -> None:
    same = "The long hall has {} lamps that hang."
    assert slot(same.format(4), same.format(6)) == [0, 1]
    assert slot(same.format(4), same.format(4)) == []
    assert slot(same.format(4)) == []
    assert slot("No lamps hang in the long hall.") == []


def test_a_value_that_the_question_names_is_none_of_the_answer() -> None:
    question = "Do 4 lamps hang in the long hall, or how many?"
    assert slot("4 lamps hang in the long hall.", "6 lamps hang in the long hall.", question=question) == []


def test_the_value_beside_the_asked_words_counts() -> None:
    far = " and then nothing is said about it for quite some while, and nobody minds that much at all, do they now?"
    text = f"5 people came.{far} 6 lamps hang in the long hall."
    assert slot("4 lamps hang in the long hall.", text) == [0, 1]
    assert slot("6 lamps hang in the long hall.", text) == []  # 6, not 5


def test_words_count_within_reach_of_the_value() -> None:
    near = "4 lamps hang in the long hall."
    blanks = "." * (REACH - len(" lamps hang in the long hall") - 1)
    assert slot(near, f"6 {blanks} lamps hang in the long hall") == [0, 1]
    assert slot(near, f"6 {blanks} ............................ lamps hang in the long hall") == []
    assert slot(near, f"lamps hang in the long hall {blanks} 6") == [0, 1]


def test_an_utterance_that_speaks_of_little_of_it_is_left_out() -> None:
    full = "{} lamps hang in the long hall."
    assert slot(full.format(4), full.format(6), "8 lamps are in a box.") == [0, 1]


def test_an_utterance_must_answer_about_as_well_as_the_first() -> None:
    full = "{} lamps hang in the long hall."
    texts = (full.format(4), full.format(6), full.format(8))
    assert slot(*texts, scores=(1.0, 0.75, 0.74)) == [0, 1]
    assert slot(*texts, scores=(0.5, 0.8, 0.8)) == [0, 1, 2]
