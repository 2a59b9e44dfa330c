"""Windows in words."""

from __future__ import annotations

from datetime import date

import pytest

from nur.domain.times import Grain, TimeWindow


@pytest.mark.parametrize(
    ("first", "end", "told"),
    [
        (date(2026, 5, 7), date(2026, 5, 8), "2026-05-07"),
        (date(2026, 5, 1), date(2026, 6, 1), "2026-05"),
        (date(2026, 12, 1), date(2027, 1, 1), "2026-12"),
        (date(2026, 1, 1), date(2027, 1, 1), "2026"),
        (date(2026, 5, 4), date(2026, 5, 11), "2026-05-04 to 2026-05-10"),
        (date(2020, 1, 1), date(2030, 1, 1), "2020-01-01 to 2029-12-31"),
    ],
)
def test_a_window_is_told_as_short_as_it_can_be(first: date, end: date, told: str) -> None:
    assert str(TimeWindow(first, end, Grain.DAY)) == told


def test_windows_overlap_when_they_share_a_day() -> None:
    may, june = (TimeWindow(date(2026, month, 1), date(2026, month + 1, 1), Grain.MONTH) for month in (5, 6))
    assert may.overlaps(may)
    assert not may.overlaps(june)
    assert may.overlaps(TimeWindow(date(2026, 5, 31), date(2026, 6, 2), Grain.DAY))
