"""Stated times, by the store's zone."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.domain.times import day_of, in_utc, parse_moment

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-05-08", datetime(2026, 5, 8, 10, tzinfo=UTC)),  # noon in summer
        ("2026-01-08", datetime(2026, 1, 8, 11, tzinfo=UTC)),  # noon in winter
        ("20260108", datetime(2026, 1, 8, 11, tzinfo=UTC)),
        ("2026-05-08T01:30", datetime(2026, 5, 7, 23, 30, tzinfo=UTC)),  # no offset: the store's zone
        ("2026-05-08T01:30Z", datetime(2026, 5, 8, 1, 30, tzinfo=UTC)),
        ("2026-05-08T01:30:00-07:00", datetime(2026, 5, 8, 8, 30, tzinfo=UTC)),
    ],
)
def test_a_stated_time_is_read_in_the_stores_zone(text: str, at: datetime) -> None:
    assert in_utc(parse_moment(text), BERLIN) == at


@pytest.mark.parametrize("text", ["yesterday", "", "2026-13-01", "2026-02-30", "12", "0001-01-01", "9999-12-31T23:59Z"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must"):
        parse_moment(text)


@given(st.text(max_size=30))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    try:
        moment = parse_moment(text)
    except ValueError:
        return
    assert in_utc(moment, BERLIN).tzinfo is UTC


def test_a_day_is_that_of_the_zone() -> None:
    assert day_of(datetime(2026, 5, 7, 22, 30, tzinfo=UTC), BERLIN) == date(2026, 5, 8)
