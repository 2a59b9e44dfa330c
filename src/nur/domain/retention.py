"""How long a note is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.notes import Retention

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import Description


def expiry(about: Description, ingested_at: datetime) -> datetime | None:
    """When the note disappears by itself: after a year with `1y`, at its own time where it has one, else never."""
    if about.retention is Retention.ONE_YEAR:
        return _a_year_after(ingested_at)
    return about.expires_at


def _a_year_after(moment: datetime) -> datetime:
    """The same day next year; 29 February becomes 1 March, so that nothing goes a day early."""
    try:
        return moment.replace(year=moment.year + 1)
    except ValueError:
        return moment.replace(year=moment.year + 1, month=3, day=1)
