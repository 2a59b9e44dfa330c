"""What English expressions mean, by the day on which they are said: around years, months and seasons that turn."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from nur.retrieval.times.find import find_times


@pytest.mark.parametrize(
    ("text", "said", "first", "last"),
    [
        ("this winter", "2024-01-20", "2023-12-01", "2024-02-29"),  # it began last year
        ("this winter", "2023-12-05", "2023-12-01", "2024-02-29"),
        ("this winter", "2023-08-17", "2023-12-01", "2024-02-29"),
        ("this winter", "2024-02-29", "2023-12-01", "2024-02-29"),
        ("last winter", "2024-01-20", "2022-12-01", "2023-02-28"),  # this one is not over
        ("last winter", "2024-03-01", "2023-12-01", "2024-02-29"),
        ("last winter", "2023-12-05", "2022-12-01", "2023-02-28"),
        ("last summer", "2023-09-01", "2023-06-01", "2023-08-31"),
        ("last summer", "2023-08-31", "2022-06-01", "2022-08-31"),  # its last day
        ("last summer", "2023-05-31", "2022-06-01", "2022-08-31"),
        ("next summer", "2023-05-31", "2023-06-01", "2023-08-31"),
        ("next summer", "2023-06-01", "2024-06-01", "2024-08-31"),  # its first day: this one has begun
        ("this spring", "2023-05-01", "2023-03-01", "2023-05-31"),
        ("this autumn", "2023-05-01", "2023-09-01", "2023-11-30"),
        ("next winter", "2023-08-17", "2023-12-01", "2024-02-29"),
        ("last August", "2023-08-17", "2022-08-01", "2022-08-31"),
        ("last September", "2023-08-17", "2022-09-01", "2022-09-30"),
        ("next August", "2023-08-17", "2024-08-01", "2024-08-31"),
        ("next September", "2023-08-17", "2023-09-01", "2023-09-30"),
        ("this July", "2023-08-17", "2023-07-01", "2023-07-31"),
        ("this quarter", "2023-08-17", "2023-07-01", "2023-09-30"),
        ("next quarter", "2023-11-02", "2024-01-01", "2024-03-31"),
        ("last quarter", "2023-02-01", "2022-10-01", "2022-12-31"),
        ("this quarter", "2023-03-31", "2023-01-01", "2023-03-31"),
        ("this quarter", "2023-04-01", "2023-04-01", "2023-06-30"),
        ("this Thursday", "2023-08-17", "2023-08-17", "2023-08-17"),
        ("this Monday", "2023-08-17", "2023-08-14", "2023-08-14"),
        ("this Sunday", "2023-08-17", "2023-08-20", "2023-08-20"),
        ("next Friday", "2023-08-17", "2023-08-18", "2023-08-18"),
        ("coming Wednesday", "2023-08-17", "2023-08-23", "2023-08-23"),
        ("24 to 26 November", "2026-11-09", "2026-11-24", "2026-11-26"),
        ("1-13 August 2026", "2026-06-22", "2026-08-01", "2026-08-13"),
        ("between 3 and 7 May", "2026-05-08", "2026-05-03", "2026-05-07"),
        ("between april and june", "2026-11-13", "2026-04-01", "2026-06-30"),
        ("from November to February 2026", "2026-11-13", "2025-11-01", "2026-02-28"),  # it turns the year
        ("the first half of September", "2026-11-13", "2026-09-01", "2026-09-15"),
        ("second half of october", "2026-11-13", "2026-10-16", "2026-10-31"),
        ("the end of March 2024", "2026-11-13", "2024-03-21", "2024-03-31"),
        ("start of June", "2026-11-13", "2026-06-01", "2026-06-10"),
        ("first half of 2025", "2026-11-13", "2025-01-01", "2025-07-01"),
        ("this past weekend", "2023-08-20", "2023-08-12", "2023-08-13"),
        ("this weekend", "2023-08-20", "2023-08-19", "2023-08-20"),
        ("this weekend", "2023-08-21", "2023-08-26", "2023-08-27"),
        ("last weekend", "2023-08-21", "2023-08-19", "2023-08-20"),
        ("next weekend", "2023-08-19", "2023-08-26", "2023-08-27"),
        ("this coming weekend", "2023-08-17", "2023-08-19", "2023-08-20"),  # said on a Thursday: still this week's
        ("the upcoming weekend", "2023-08-18", "2023-08-19", "2023-08-20"),
        ("this coming weekend", "2023-08-19", "2023-08-26", "2023-08-27"),  # on a Saturday this one is no longer coming
        ("this decade", "2023-08-17", "2020-01-01", "2029-12-31"),
        ("last decade", "2023-08-17", "2010-01-01", "2019-12-31"),
        ("this coming week", "2023-08-17", "2023-08-21", "2023-08-27"),
        ("coming month", "2023-08-17", "2023-09-01", "2023-09-30"),
        ("upcoming year", "2023-08-17", "2024-01-01", "2024-12-31"),
        ("this past week", "2023-08-17", "2023-08-10", "2023-08-16"),
        ("past month", "2023-08-17", "2023-07-01", "2023-07-31"),
        ("next decade", "2023-08-17", "2030-01-01", "2039-12-31"),
        ("next year", "2023-08-17", "2024-01-01", "2024-12-31"),
        ("next month", "2023-12-31", "2024-01-01", "2024-01-31"),
        ("last month", "2023-01-31", "2022-12-01", "2022-12-31"),
        ("the month before last", "2023-01-31", "2022-11-01", "2022-11-30"),
        ("the week after next", "2023-08-17", "2023-08-28", "2023-09-03"),
        ("the year after next", "2023-08-17", "2025-01-01", "2025-12-31"),
        ("the week before last", "2023-08-17", "2023-07-31", "2023-08-06"),
        ("over the weekend", "2023-08-19", "2023-08-19", "2023-08-20"),  # said on Saturday
        ("over the weekend", "2023-08-18", "2023-08-12", "2023-08-13"),
        ("We will paint over the weekend", "2023-08-18", "2023-08-19", "2023-08-20"),
        ("in the summer", "2023-05-31", "2022-06-01", "2022-08-31"),
        ("in the summer", "2023-06-01", "2023-06-01", "2023-08-31"),
        ("We will travel in the summer", "2023-05-31", "2023-06-01", "2023-08-31"),
        ("We will travel in the winter", "2023-08-17", "2023-12-01", "2024-02-29"),
        ("in early May", "2023-08-17", "2023-05-01", "2023-05-10"),
        ("in mid May", "2023-08-17", "2023-05-11", "2023-05-20"),
        ("in late May", "2023-08-17", "2023-05-21", "2023-05-31"),
        ("in late February 2024", "2023-08-17", "2024-02-20", "2024-02-29"),
        ("in January", "2023-08-17", "2023-01-01", "2023-01-31"),
        ("in February", "2023-01-05", "2023-02-01", "2023-02-28"),
        ("in December", "2023-01-05", "2022-12-01", "2022-12-31"),
        ("We will meet in February", "2023-08-17", "2024-02-01", "2024-02-29"),
        ("We will meet in August", "2023-08-17", "2023-08-01", "2023-08-31"),
        ("a few days ago", "2023-08-17", "2023-08-12", "2023-08-14"),  # three, or up to two more
        ("several weeks ago", "2023-08-17", "2023-06-19", "2023-07-16"),  # five, or up to three more
        ("in a few days", "2023-08-17", "2023-08-20", "2023-08-22"),
        ("in several months", "2023-08-17", "2024-01-01", "2024-04-30"),
        ("two Fridays ago", "2023-08-18", "2023-08-04", "2023-08-04"),
        ("a Thursday ago", "2023-08-17", "2023-08-10", "2023-08-10"),
        ("twelve months ago", "2023-08-17", "2022-08-01", "2022-08-31"),
        ("in eleven days", "2023-08-17", "2023-08-28", "2023-08-28"),
        ("a decade ago", "2023-08-17", "2010-01-01", "2019-12-31"),
        ("the early 1990s", "2023-08-17", "1990-01-01", "1993-05-01"),
        ("the mid 2010s", "2023-08-17", "2013-05-02", "2016-08-30"),
        ("the 1980s", "2023-08-17", "1980-01-01", "1989-12-31"),
        ("on the 17th", "2023-08-17", "2023-08-17", "2023-08-17"),
        ("on the 16th", "2023-08-17", "2023-08-16", "2023-08-16"),
        ("on the 18th", "2023-08-17", "2023-07-18", "2023-07-18"),  # looks back
        ("It is due on the 17th.", "2023-08-17", "2023-08-17", "2023-08-17"),
        ("It is due on the 18th.", "2023-08-17", "2023-08-18", "2023-08-18"),
        ("It is due on the 1st.", "2023-12-31", "2024-01-01", "2024-01-01"),
        ("Q1 2024", "2023-08-17", "2024-01-01", "2024-03-31"),
        ("Q4 of 2022", "2023-08-17", "2022-10-01", "2022-12-31"),
        ("in 1900", "2023-08-17", "1900-01-01", "1900-12-31"),
        ("Feb 29, 2024", "2023-08-17", "2024-02-29", "2024-02-29"),
        ("December 31", "2023-08-17", "2023-12-31", "2023-12-31"),
        ("3 January", "2023-12-20", "2024-01-03", "2024-01-03"),
        ("spring of 2020", "2023-08-17", "2020-03-01", "2020-05-31"),
        ("late summer 2020", "2023-08-17", "2020-08-01", "2020-08-31"),
        ("winter 2020", "2023-08-17", "2020-12-01", "2021-02-28"),
        ("autumn 2019", "2023-08-17", "2019-09-01", "2019-11-30"),
        ("fall of 2019", "2023-08-17", "2019-09-01", "2019-11-30"),
        ("the past three months", "2023-08-17", "2023-05-01", "2023-08-17"),
        ("the last few days", "2023-08-17", "2023-08-12", "2023-08-17"),
        ("It is `yesterday` in code, tomorrow in prose.", "2023-08-17", "2023-08-18", "2023-08-18"),
        ("see https://x.org/2023-05-08 and 2023-05-09", "2023-08-17", "2023-05-09", "2023-05-09"),
    ],
)
def test_the_days_that_an_expression_means(text: str, said: str, first: str, last: str) -> None:
    (found,) = find_times(text, date.fromisoformat(said))
    assert str(found.window.first) == first
    assert str(found.window.end - timedelta(days=1)) == last


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("this day", "2023-08-17"),  # names nothing in particular
        ("next day", "2023-08-17"),
        ("two quarters ago", "2023-08-17"),  # not counted in
        ("on the 31st", "2023-03-05"),  # no such day in February
        ("in 1899", "2023-08-17"),  # a number
        ("in 2150", "2023-08-17"),  # a number
        ("Feb 29, 2023", "2023-08-17"),  # no such day
    ],
)
def test_what_names_no_time(text: str, said: str) -> None:
    assert find_times(text, date.fromisoformat(said)) == ()


@pytest.mark.parametrize("gap", [96, 97])
def test_two_times_far_apart_are_both_found(gap: int) -> None:
    text = "yesterday" + "x" * 20 + " " * gap + "tomorrow"
    text = text.replace("yesterdayx", "yesterday x")
    assert [text[one.start_char : one.end_char] for one in find_times(text, date(2023, 8, 17))] == [
        "yesterday",
        "tomorrow",
    ]


def test_only_its_own_sentence_says_which_way_an_expression_looks() -> None:
    text = "I will be back. I met her on Friday. Then I will call."
    (found,) = find_times(text, date(2023, 8, 17))
    assert str(found.window.first) == "2023-08-11"


def test_what_stands_in_code_and_addresses_is_no_time() -> None:
    text = "`yesterday` and tomorrow; https://x.org/today and last week; ```today``` next year"
    assert [text[one.start_char : one.end_char] for one in find_times(text, date(2023, 8, 17))] == [
        "tomorrow",
        "last week",
        "next year",
    ]
