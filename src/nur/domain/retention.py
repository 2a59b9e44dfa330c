"""How long a note is kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from nur.domain.errors import BadRequest
from nur.domain.notes import Retention

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import NoteMetadata


def end(expires_at: datetime | None, ttl_days: float | None, now: datetime) -> datetime | None:
    """When a note ends, by a time or by a number of days from now. Raises BadRequest when both are given."""
    if ttl_days is None:
        return expires_at
    if expires_at is not None:
        raise BadRequest("ttl_days and expires_at exclude each other")
    return now + timedelta(days=ttl_days)


def lasting(meta: NoteMetadata, now: datetime) -> NoteMetadata:
    """The description with a retention that fits its end. Raises BadRequest for an end that is over or missing."""
    if meta.expires_at is not None and meta.expires_at <= now:
        raise BadRequest("expires_at must lie in the future")
    if meta.retention is Retention.CUSTOM and meta.expires_at is None:
        raise BadRequest("retention_policy custom needs expires_at")
    if meta.expires_at is not None and meta.retention is Retention.FOREVER:
        return replace(meta, retention=Retention.CUSTOM)
    return meta


def expiry(meta: NoteMetadata, ingested_at: datetime) -> datetime | None:
    """When the note disappears by itself: after a year with `1y`, at its own time where it has one, else never."""
    if meta.retention is Retention.ONE_YEAR:
        return _a_year_after(ingested_at)
    return meta.expires_at


def _a_year_after(moment: datetime) -> datetime:
    """The same day next year; 29 February becomes 1 March, so that nothing goes a day early."""
    try:
        return moment.replace(year=moment.year + 1)
    except ValueError:
        return moment.replace(year=moment.year + 1, month=3, day=1)
