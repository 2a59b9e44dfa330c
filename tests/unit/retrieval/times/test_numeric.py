"""Dates in digits."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from nur.retrieval.times.find import find_times

SAID = date(2023, 8, 17)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2023-05-08", "2023-05-08", "2023-05-08"),
        ("2023/5/8", "2023-05-08", "2023-05-08"),
        ("2023-05-08T10:00", "2023-05-08", "2023-05-08"),
        ("8.5.2023", "2023-05-08", "2023-05-08"),  # with dots the day is first
        ("13/12/2022", "2022-12-13", "2022-12-13"),  # 13 is no month
        ("12/13/2022", "2022-12-13", "2022-12-13"),
        ("5/5/2023", "2023-05-05", "2023-05-05"),  # the same in either order
        ("2023年5月8日", "2023-05-08", "2023-05-08"),
        ("2023年5月", "2023-05-01", "2023-05-31"),
        ("2023年12月", "2023-12-01", "2023-12-31"),
        ("2023年", "2023-01-01", "2023-12-31"),
        ("5月8日", "2023-05-08", "2023-05-08"),  # the nearest
        ("2023년 5월 8일", "2023-05-08", "2023-05-08"),
    ],
)
def test_the_days_that_digits_mean(text: str, first: str, last: str) -> None:
    (found,) = find_times(text, SAID)
    assert str(found.window.first) == first
    assert str(found.window.end - timedelta(days=1)) == last


@pytest.mark.parametrize(
    "text",
    [
        "5/8/2023",  # May or August
        "12/11/2022",
        "2023-13-08",  # no such month
        "2023-02-30",  # no such day
        "v2023-05-08",
        "1.8.5.2023",
        "13月40日",
    ],
)
def test_what_may_be_read_in_two_orders_or_in_none_is_no_date(text: str) -> None:
    assert find_times(text, SAID) == ()


@pytest.mark.parametrize(
    ("text", "is_relative"),
    [
        ("2023-05-08", False),
        ("2023年5月8日", False),
        ("am 8. Mai 2023", False),
        ("gestern", True),
        ("yesterday", True),
        ("in May 2023", False),
    ],
)
def test_what_has_its_date_is_not_relative(text: str, is_relative: bool) -> None:
    [found] = find_times(text, SAID)
    assert found.is_relative is is_relative
