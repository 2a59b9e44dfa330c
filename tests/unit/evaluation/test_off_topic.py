"""Questions asked of a conversation that does not have the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.evaluation.dataset import DataSet, LabelledQuestion, Row
from nur.evaluation.off_topic import GENERAL_QUESTIONS, off_topic_questions

if TYPE_CHECKING:
    from collections.abc import Iterable


def turns(scope: str, *speakers: str) -> Iterable[Row]:
    return (
        Row(f"{scope}/{place}", f"{speaker}: hello", {"scope": scope, "speaker": speaker})
        for place, speaker in enumerate(speakers * 3)
    )


def question(text: str, scope: str | None, *, gold: bool = True) -> LabelledQuestion:
    return LabelledQuestion(text, text, scope, "", {"x": 1.0} if gold else {}, ())


def data(rows: Iterable[Row], *questions: LabelledQuestion) -> DataSet:
    return DataSet("set", "turns", "", tuple(rows), questions)


def test_the_next_conversation_is_asked_and_the_last_asks_the_first() -> None:
    rows = [*turns("a", "Ann"), *turns("b", "Ben"), *turns("c", "Cem")]
    asked = off_topic_questions(data(rows, question("one", "a"), question("two", "b"), question("three", "c")))
    assert [(found.text, scope) for found, scope in asked] == [("one", "b"), ("two", "c"), ("three", "a")]


def test_names_do_not_give_it_away() -> None:
    rows = [*turns("a", "Ann", "Bo"), *turns("b", "Cleo", "Ann")]
    asked = list(off_topic_questions(data(rows, question("Did Ann tell Bo of Ann's annex?", "a"), question("?", "b"))))
    assert asked[0][0].text == "Did Cleo tell Ann of Cleo's annex?"


def test_speakers_are_found_in_transcripts_too() -> None:
    rows = [
        Row("a", "Monday\nAnn: hi\nBo: yes\nAnn: so\nBo: no\nNB: one\nAnn: bye\nBo: bye", {"scope": "a"}),
        Row("b", "Cleo: hi\nCleo: you?\nCleo: bye", {"scope": "b"}),
    ]
    asked = list(off_topic_questions(data(rows, question("What did Ann say to Bo?", "a"), question("?", "b"))))
    assert asked[0][0].text == "What did Cleo say to Bo?"


def test_there_is_no_elsewhere_without_a_second_scope_and_no_question_without_gold() -> None:
    assert list(off_topic_questions(data(turns("a", "Ann"), question("one", "a")))) == []
    assert list(off_topic_questions(data([Row("1", "text", {})], question("one", None)))) == []
    rows = [*turns("a", "Ann"), *turns("b", "Ben")]
    assert [
        one.id for one, _ in off_topic_questions(data(rows, question("q", "a"), question("r", "b", gold=False)))
    ] == ["q"]


def test_the_general_questions_are_all_different() -> None:
    assert len(set(GENERAL_QUESTIONS)) == len(GENERAL_QUESTIONS) >= 40
