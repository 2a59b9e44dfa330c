"""Times as people state them: ISO 8601, with an offset or without, or a date alone."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from datetime import tzinfo

Zone: TypeAlias = "tzinfo | None"  #: the store's time zone; None: the system's

NOON = time(12)
EXAMPLES = "an ISO 8601 time such as 2025-12-25T10:30:00Z, or a date such as 2025-12-25"
LIMITS = "between the years 2 and 9998"
_FIRST_YEAR, _LAST_YEAR = 2, 9998  # no zone can move these out of what a datetime holds


def parse_moment(text: str) -> datetime:
    """A stated time; a date alone is its noon, and what has no offset stays without a zone.

    Raises ValueError, with words for the caller.
    """
    try:
        moment = datetime.combine(date.fromisoformat(text), NOON)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError(f"must be {EXAMPLES}") from None
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ValueError(f"must lie {LIMITS}")
    return moment


def in_utc(moment: datetime, zone: Zone) -> datetime:
    """A stated time as UTC; without an offset it is in `zone`."""
    if moment.tzinfo is None and zone is not None:
        moment = moment.replace(tzinfo=zone)
    return moment.astimezone(UTC)


def day_of(moment: datetime, zone: Zone) -> date:
    """The day on the calendar of `zone`."""
    return moment.astimezone(zone).date()
