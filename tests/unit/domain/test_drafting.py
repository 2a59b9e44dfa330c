"""How long a note is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from nur.domain.drafting import expiry, requested_expiry, with_checked_retention
from nur.domain.errors import BadRequest
from nur.domain.notes import NoteMetadata, Retention

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=3)


@pytest.mark.parametrize(
    ("expires_at", "ttl_days", "expected"),
    [
        (None, None, None),
        (LATER, None, LATER),
        (None, 1.5, NOW + timedelta(hours=36)),
        (None, 0, NOW),  # zero days are given, and refused where an end must lie ahead
    ],
)
def test_an_end_is_a_time_or_a_number_of_days(
    expires_at: datetime | None, ttl_days: float | None, expected: datetime | None
) -> None:
    assert requested_expiry(expires_at, ttl_days, NOW) == expected


def test_a_time_and_a_number_of_days_exclude_each_other() -> None:
    with pytest.raises(BadRequest, match="exclude each other"):
        requested_expiry(LATER, 1, NOW)


@pytest.mark.parametrize(
    ("retention", "expires_at", "expected"),
    [
        (Retention.FOREVER, None, Retention.FOREVER),
        (Retention.FOREVER, LATER, Retention.CUSTOM),  # an end and "forever" contradict each other
        (Retention.CUSTOM, LATER, Retention.CUSTOM),
        (Retention.ONE_YEAR, LATER, Retention.ONE_YEAR),
    ],
)
def test_the_retention_fits_the_end(retention: Retention, expires_at: datetime | None, expected: Retention) -> None:
    meta = NoteMetadata(retention=retention, expires_at=expires_at)
    assert with_checked_retention(meta, NOW).retention is expected


@pytest.mark.parametrize(
    ("meta", "reason"),
    [
        (NoteMetadata(expires_at=NOW), "future"),  # now is over
        (NoteMetadata(expires_at=NOW - timedelta(days=1)), "future"),
        (NoteMetadata(retention=Retention.CUSTOM), "needs expires_at"),
    ],
)
def test_an_end_that_is_over_or_missing_is_refused(meta: NoteMetadata, reason: str) -> None:
    with pytest.raises(BadRequest, match=reason):
        with_checked_retention(meta, NOW)


@pytest.mark.parametrize(
    ("meta", "ingested_at", "expected"),
    [
        (NoteMetadata(), NOW, None),
        (NoteMetadata(expires_at=LATER, retention=Retention.CUSTOM), NOW, LATER),
        (NoteMetadata(retention=Retention.ONE_YEAR), NOW, NOW.replace(year=2027)),
        (
            NoteMetadata(retention=Retention.ONE_YEAR),
            datetime(2028, 2, 29, 7, tzinfo=UTC),
            datetime(2029, 3, 1, 7, tzinfo=UTC),  # not a day early
        ),
    ],
)
def test_a_note_disappears_after_a_year_or_at_its_own_end(
    meta: NoteMetadata, ingested_at: datetime, expected: datetime | None
) -> None:
    assert expiry(meta, ingested_at) == expected
