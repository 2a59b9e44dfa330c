"""Date measures: gold is read on its own, and half of what is said must lie in it."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from nur.domain.times import Grain, TimeWindow
from nur.evaluation.dataset import LabelledQuestion, Row
from nur.evaluation.dates import date_scores, gold_window, is_right, row_moment, shown_window


def days(first: date, end: date) -> TimeWindow:
    return TimeWindow(first, end, Grain.DAY)


@pytest.mark.parametrize(
    ("answer", "first", "end"),
    [
        ("7 May 2023", date(2023, 5, 7), date(2023, 5, 8)),
        ("May 7, 2023 (roughly)", date(2023, 5, 7), date(2023, 5, 8)),
        ("June, 2023", date(2023, 6, 1), date(2023, 7, 1)),
        ("in 2022", date(2022, 1, 1), date(2023, 1, 1)),
        ("The week before 9 June 2023", date(2023, 6, 2), date(2023, 6, 9)),
        ("The week of 23 August 2023", date(2023, 8, 21), date(2023, 8, 28)),
        ("The Friday before 15 July 2023", date(2023, 7, 14), date(2023, 7, 15)),
        ("The Friday after 15 July 2023", date(2023, 7, 21), date(2023, 7, 22)),
        ("two weekends before 17 July 2023", date(2023, 7, 8), date(2023, 7, 10)),
        ("The weekend of 22 August, 2022", date(2022, 8, 27), date(2022, 8, 29)),
        ("two months before 9 June 2023", date(2023, 4, 1), date(2023, 5, 1)),
        ("two years before 9 June 2023", date(2021, 1, 1), date(2022, 1, 1)),
    ],
)
def test_gold_dates(answer: str, first: date, end: date) -> None:
    window = gold_window(answer)
    assert window is not None
    assert (window.first, window.end) == (first, end)


@pytest.mark.parametrize("answer", ["Counselling", "", "for two hours", "31 February 2023"])
def test_other_answers_are_no_dates(answer: str) -> None:
    assert gold_window(answer) is None


def test_half_of_what_is_said_must_lie_in_the_gold() -> None:
    week = days(date(2023, 6, 2), date(2023, 6, 8))
    assert is_right(days(date(2023, 6, 5), date(2023, 6, 11)), week)
    assert not is_right(days(date(2023, 6, 6), date(2023, 6, 12)), week)


def test_a_row_is_dated_in_iso_or_in_words() -> None:
    assert row_moment("2023-05-08T13:56:00+02:00") == datetime(2023, 5, 8, 11, 56, tzinfo=UTC)
    assert row_moment("1:56 pm on 8 May, 2023") == datetime(2023, 5, 8, 12, tzinfo=UTC)
    assert row_moment(None) is None
    assert row_moment("some day") is None


def test_questions_that_ask_when_are_scored_by_the_dates_shown() -> None:
    row = Row("t", "I went yesterday.", {"date": "2023-05-08"}, "turn")
    question = LabelledQuestion("q", "When did she go?", None, "", {"t": 1.0}, (), answer="7 May 2023")
    said, right = (shown_window(text, date(2023, 5, 8)) for text in ("Hello.", "I went yesterday."))
    scores = date_scores(question, [said, right], {"t": row})
    assert scores == {"date_given_gold": 1.0, "date@1": 0.0, "date@3": 1.0}


def test_other_questions_have_no_date_scores() -> None:
    row = Row("t", "I went yesterday.", {"date": "2023-05-08"}, "turn")
    where = LabelledQuestion("q", "Where did she go?", None, "", {"t": 1.0}, (), answer="7 May 2023")
    undated = LabelledQuestion("q", "When did she go?", None, "", {"t": 1.0}, (), answer="Later")
    assert date_scores(where, [], {"t": row}) == date_scores(undated, [], {"t": row}) == {}
