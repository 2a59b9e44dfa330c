"""What turns gain from their neighbours and lose by their speaker."""

from __future__ import annotations

import numpy as np
import pytest

from nur.retrieval.ranking.scores import PieceScores
from nur.retrieval.ranking.turns import OTHER_ROLE, OTHER_SPEAKER, SAID_BONUS, with_context
from tests.candidates import a_candidate
from tests.store_notes import a_turn

SHORT = "See you there."


def found(scores: list[float], matched: list[list[float]]) -> PieceScores:
    """Two terms of equal weight."""
    size = len(scores)
    return PieceScores(np.array(scores), np.zeros(size), np.zeros(size), np.array(matched), np.array([0.5, 0.5]))


def gains(scores: list[float], matched: list[list[float]], texts: list[str], question: str = "tea") -> list[float]:
    """What each turn of one conversation gains, one piece per turn."""
    views = [a_candidate(text, a_turn("c", index, text)) for index, text in enumerate(texts)]
    result = with_context(question, views, np.arange(len(texts)), found(scores, matched))
    return [round(gained, 6) for gained in (result - np.array(scores)).tolist()]


def test_a_turn_gains_what_its_neighbours_match_and_it_does_not() -> None:
    matched = [[0.8, 0.0], [0.0, 0.5], [0.0, 0.0], [0.0, 0.0]]
    got = gains([0.9, 0.2, 0.1, 0.1], matched, [SHORT] * 4)
    assert got == [
        0.0,  # already the best
        pytest.approx(0.8 * 0.8 / 2),
        pytest.approx(0.8 * 0.5 / 2 + 0.5 * 0.8 / 2),  # one beside it has the second word, two away the first
        pytest.approx(min(0.5 * 0.5 / 2, 0.1)),  # never above the best neighbour
    ]


def test_a_turn_never_gains_more_than_its_best_neighbour_has() -> None:
    assert gains([0.3, 0.25], [[1.0, 1.0], [0.0, 0.0]], [SHORT] * 2) == [0.0, 0.05]


def test_long_turns_lend_and_borrow_less() -> None:
    long = "word " * 240  # twice as long as counts in full
    short, half = gains([0.9, 0.0], [[0.8, 0.0], [0.0, 0.0]], [SHORT, SHORT])[1], 0.8 * 0.8 / 2 / 2
    assert short == pytest.approx(0.8 * 0.8 / 2)
    assert gains([0.9, 0.0], [[0.8, 0.0], [0.0, 0.0]], [long, SHORT])[1] == pytest.approx(half)
    assert gains([0.9, 0.0], [[0.8, 0.0], [0.0, 0.0]], [SHORT, long])[1] == pytest.approx(half)


def test_turns_three_apart_and_turns_of_other_conversations_lend_nothing() -> None:
    assert gains([0.9, 0.9, 0.9, 0.0], [[0.8, 0.0], *[[0.0, 0.0]] * 3], [SHORT] * 4)[3] == 0.0
    views = [a_candidate(SHORT, a_turn(name, index, SHORT)) for index, name in enumerate("cd")]
    scores = found([0.9, 0.0], [[0.8, 0.0], [0.0, 0.0]])
    assert with_context("tea", views, np.arange(2), scores).tolist() == [0.9, 0.0]


def test_what_is_no_turn_keeps_its_score() -> None:
    views = [a_candidate("Tea is drunk at four."), a_candidate(SHORT, a_turn("c", 1, SHORT))]
    scores = found([0.4, 0.1], [[0.8, 0.0], [0.0, 0.0]])
    assert with_context("what did you say?", views, np.arange(2), scores)[0] == 0.4
    assert with_context("what did you say?", views[:1], np.zeros(1, np.int64), found([0.4], [[0.8, 0.0]])) == [0.4]


def by_role(question: str) -> list[float]:
    """What a user's turn, an assistant's and one of nobody gain by the question."""
    views = [
        a_candidate(SHORT, a_turn(f"c{number}", 1, SHORT, role=role))
        for number, role in enumerate(("user", "assistant", None))
    ]
    result = with_context(question, views, np.arange(3), found([0.0] * 3, [[0.0, 0.0]] * 3))
    return [float(one) for one in result]


def test_another_role_than_the_one_asked_about_loses() -> None:
    assert by_role("What did you recommend?") == pytest.approx([SAID_BONUS - OTHER_ROLE, SAID_BONUS, SAID_BONUS])
    assert by_role("Where is the tea?") == [0.0, 0.0, 0.0]


def test_another_speaker_than_the_one_named_loses() -> None:
    texts = ["Aga: I drink tea.", "Rob: I drink milk.", "I drink water."]
    views = [a_candidate(text, a_turn(f"c{number}", 1, text, role=None)) for number, text in enumerate(texts)]
    scores = found([0.0] * 3, [[0.0, 0.0]] * 3)
    named = with_context("Where is Aga's cup?", views, np.arange(3), scores)
    assert named.tolist() == pytest.approx([0.0, -OTHER_SPEAKER, 0.0])
    assert with_context("Where is Ada's cup?", views, np.arange(3), scores).tolist() == [0.0, 0.0, 0.0]
