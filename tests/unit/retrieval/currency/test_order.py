"""What holds now comes before what held once, where utterances are about the same thing, and nothing else moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.retrieval.currency.order import Move, MoveRule, decided_first, order_current, with_update
from nur.retrieval.currency.utterances import Utterance
from nur.retrieval.ranking.grouping import HitGroup
from nur.retrieval.ranking.queries import query_terms, weigh
from nur.retrieval.text.analysis import ANALYZER
from tests.candidates import a_ranked

if TYPE_CHECKING:
    from nur.retrieval.currency.order import CurrentOrder

START = datetime(2026, 1, 1, tzinfo=UTC)


def said(*texts: str, score: float = 0.8, memories: bool = True) -> list[Utterance]:
    """Utterances in the order of an answer, each said a day after the one before."""
    return [
        Utterance(f"mem_{place}", text, 0, (START + timedelta(days=place), -1), score, memories)
        for place, text in enumerate(texts)
    ]


def ordered(question: str, utterances: list[Utterance], *, names_time: bool = False) -> CurrentOrder:
    terms = query_terms(question, ANALYZER)
    return order_current(question, weigh(terms, {}, 1000), utterances, names_time=names_time)


def test_the_newest_value_comes_first() -> None:
    found = ordered(
        "How many commits are merged into the main branch?",
        said("150 commits are merged into the main branch.", "The main branch has 165 merged commits."),
    )
    assert found.order == [1, 0]
    assert found.moves == (Move("mem_1", "mem_0", MoveRule.VALUE),)


def test_a_newer_value_that_stands_first_already_is_named_too() -> None:
    utterances = said("Test coverage of the parser is 65%.", "Test coverage of the parser is 78%.")[::-1]
    found = ordered("What is the test coverage of the parser?", utterances)
    assert found.order == [0, 1]
    assert [(move.newer, move.older) for move in found.moves] == [("mem_1", "mem_0")]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        # The same value twice: nothing changed.
        ("How many lamps are in the hall?", ("There are 4 lamps in the hall.", "Four lamps hang in the hall.")),
        # Another thing with a number.
        ("How many lamps are in the hall?", ("There are 4 lamps in the hall.", "Dinner for 6 people.")),
        # Values of other kinds.
        ("How many lamps are in the hall?", ("There are 4 lamps in the hall.", "The lamps in the hall cost $90.")),
        # It asks how things were.
        ("How many lamps did the hall have originally?", ("The hall has 4 lamps.", "The hall has 6 lamps.")),
        # It asks for no value.
        ("Tell me about the lamps in the hall", ("The hall has 4 lamps.", "The hall has 6 lamps.")),
    ],
)
def test_nothing_moves(question: str, texts: tuple[str, ...]) -> None:
    found = ordered(question, said(*texts, memories=False))
    assert found.order == list(range(len(texts)))
    assert found.moves == ()


def test_a_question_about_a_time_is_not_about_now() -> None:
    utterances = said("The hall has 4 lamps.", "The hall has 6 lamps.")
    assert ordered("How many lamps does the hall have?", utterances, names_time=True).moves == ()


def test_a_weaker_utterance_does_not_pass_a_much_better_one() -> None:
    better, weaker = said("The hall has 4 lamps.", "The hall has 6 lamps.", memories=False)
    weaker = Utterance(weaker.public_id, weaker.text, 0, weaker.said, 0.3, is_memory=False)
    assert ordered("How many lamps does the hall have?", [better, weaker]).moves == ()


@pytest.mark.parametrize(
    "text",
    [
        "The main branch has grown, now at 165 commits, and the repository is tidy.",
        "With the commits on the main branch up to 165 it is time for a release.",
    ],
)
def test_a_value_that_is_said_to_be_new_may_be_weaker(text: str) -> None:
    older, newer = said("150 commits are merged into the main branch of my repository.", text, memories=False)
    newer = Utterance(newer.public_id, newer.text, 0, newer.said, 0.5, is_memory=False)
    found = ordered("How many commits are on the main branch of my repository?", [older, newer])
    assert found.order == [1, 0]
    plain = Utterance(newer.public_id, "The main branch holds 165 commits.", 0, newer.said, 0.5, is_memory=False)
    assert ordered("How many commits are on the main branch of my repository?", [older, plain]).moves == ()


@pytest.mark.parametrize(
    "text",
    [
        "I'm trying to reach 100% test coverage of the parser.",  # a goal is no value
        "The test coverage of the parser was originally 40%.",  # nor is what was
        "My goal is to bring test coverage of the parser to 100%.",
    ],
)
def test_a_goal_or_a_past_value_is_not_put_first(text: str) -> None:
    utterances = said("The test coverage of the parser is 65%.", text, memories=False)
    assert ordered("What is the test coverage of the parser?", utterances).order == [0, 1]


def test_what_changed_from_one_value_to_another_gives_the_second() -> None:
    texts = ("The test coverage of the parser is 70%.", "The test coverage of the parser went from 70% to 90%.")
    assert ordered("What is the test coverage of the parser?", said(*texts, memories=False)).order == [1, 0]


@pytest.mark.parametrize(
    "question",
    ["How much did the hall change between the two times?", "How many more lamps does the hall have?"],
)
def test_a_question_that_compares_asks_for_no_current_value(question: str) -> None:
    utterances = said("The hall has 4 lamps.", "The hall has 6 lamps.", memories=False)
    assert ordered(question, utterances).moves == ()


def test_a_memory_that_reports_a_change_comes_before_what_it_changes() -> None:
    found = ordered(
        "Where do I find the jointer?",
        said("Lent the Domino jointer to Gaz.", "Bread is in the oven.", "Gaz brought the Domino back, top shelf."),
    )
    assert found.order == [2, 1, 0]
    assert found.moves == (Move("mem_2", "mem_0", MoveRule.UPDATE),)


def test_a_turn_that_speaks_of_change_does_not_move() -> None:
    texts = ("Lent the Domino jointer to Gaz.", "Gaz brought the Domino back.")
    assert ordered("Where is the jointer?", said(*texts, memories=False)).moves == ()


def test_a_denial_and_a_claim_disagree() -> None:
    texts = ("I've never fixed a bug in the parser.", "I fixed two parser bugs, and it runs.")
    found = ordered("Have I ever fixed a bug in the parser?", said(*texts))
    assert found.conflict is not None
    assert found.conflict.denies.text == "I've never fixed a bug in the parser."
    assert found.conflict.claims.text == "I fixed two parser bugs"
    assert texts[1][found.conflict.claims.start_char : found.conflict.claims.end_char] == found.conflict.claims.text


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        # Nobody asks whether.
        ("How do I fix a bug in the parser?", ("I've never fixed a bug in the parser.", "I fixed a parser bug.")),
        # A wish is no claim.
        ("Have I fixed a bug in the parser?", ("I've never fixed a bug in the parser.", "I want to fix a parser bug.")),
        # Another matter.
        ("Have I fixed a bug in the parser?", ("I've never fixed a bug in the parser.", "I planted tomatoes.")),
        # Two denials agree.
        (
            "Have I fixed a bug in the parser?",
            ("I've never fixed a parser bug.", "I haven't fixed any bug."),
        ),
    ],
)
def test_nothing_disagrees(question: str, texts: tuple[str, ...]) -> None:
    assert ordered(question, said(*texts)).conflict is None


def test_what_was_decided_stands_right_behind_what_holds() -> None:
    order, moves = decided_first(["old", "other", "new"], {"old": ["new"]})
    assert order == [2, 0, 1]
    assert moves == [Move("new", "old", MoveRule.DECIDED)]


def test_a_chain_of_decisions_ends_with_what_holds() -> None:
    order, _ = decided_first(["first", "second", "third"], {"first": ["third", "second"], "second": ["third"]})
    assert order == [2, 1, 0]


WORDS = ["the hall has", "lamps", "4", "6 lamps", "now", "I've never", "65%", "?", "moved on 3 May", ",", "Gaz"]


@given(
    st.sampled_from(["How many lamps has the hall?", "Have I lamps?", "lamps", ""]),
    st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) | st.text(max_size=40), max_size=10),
)
def test_every_utterance_keeps_exactly_one_place(question: str, texts: list[str]) -> None:
    found = ordered(question, said(*texts))
    assert sorted(found.order) == list(range(len(texts)))
    names = {f"mem_{place}" for place in range(len(texts))}
    assert {name for move in found.moves for name in (move.newer, move.older)} <= names


@given(st.dictionaries(st.sampled_from("abcd"), st.lists(st.sampled_from("abcd"), max_size=3), max_size=4))
def test_decisions_in_any_shape_lose_nothing(superseded: dict[str, list[str]]) -> None:
    order, _ = decided_first(["a", "b", "c"], superseded)
    assert sorted(order) == [0, 1, 2]


def test_what_may_update_the_first_hit_is_compared_with_it() -> None:
    groups = [HitGroup(a_ranked(text, 0.5), ()) for text in ("Accountant: Barry", "Salt", "Books: Ann", "Books: Priti")]
    first, second, older, newest = groups
    ids = [group.shown.candidate.public_id for group in groups]
    assert with_update(groups, {ids[0]: [ids[3], ids[2]]}) == [first, newest, second, older]
    assert with_update(groups, {ids[1]: [ids[3]]}) == groups  # not the first
    assert with_update(groups, {ids[0]: ["mem_gone"]}) == groups
    assert with_update([], {}) == []
