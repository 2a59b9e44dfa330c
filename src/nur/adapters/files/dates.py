"""Dates as files write them."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(written: str | None) -> datetime | None:
    """An ISO 8601 date or time, in UTC; None for anything else. Without a zone it is taken as UTC."""
    if not written:
        return None
    try:
        return utc(datetime.fromisoformat(written.strip()))
    except ValueError:
        return None


def epoch(seconds: object) -> datetime | None:
    """A time in seconds since 1970, as a number or as digits; None for anything else."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | str):
        return None
    try:
        return datetime.fromtimestamp(float(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def utc(found: datetime | None) -> datetime | None:
    """In UTC; without a zone it is taken as UTC."""
    if found is None:
        return None
    try:
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        return None
