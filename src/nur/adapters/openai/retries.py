"""Decides when to retry a request. Nothing here waits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits of retries and time for one call."""

    retries: int = 3  #: requests after the first failure
    timeout_seconds: float = 30.0  #: one request, from connecting to the last byte
    deadline_seconds: float = 45.0  #: the whole call: all batches, retries and waits
    query_seconds: float = 2.0  #: a query with its retries; a search then falls back to lexical results
    probe_seconds: float = 5.0  #: a probe; never retried


@dataclass(frozen=True, slots=True)
class RetryIn:
    """Retry after this many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Do not retry: it would not help, or would be too late."""


Decision: TypeAlias = RetryIn | GiveUp


def after_failure(
    failures: int, *, retries: int, retry_after_seconds: float, jitter_seconds: float, remaining_seconds: float
) -> Decision:
    """Wait 1, 2, 4, … seconds, or the server's Retry-After if that is longer, plus jitter.

    Jitter is added to Retry-After too: clients that must all wait ten seconds would otherwise return at the
    same moment. Gives up if the wait would end after the deadline.
    """
    if failures > retries:
        return GiveUp()
    wait = max(2.0 ** (failures - 1), retry_after_seconds) + jitter_seconds
    return RetryIn(wait) if wait < remaining_seconds else GiveUp()


def retry_after(headers: Mapping[str, str], now: datetime) -> float:
    """Seconds to wait according to `retry-after-ms`, or `Retry-After` as seconds or as a date.

    0.0 if neither is present or valid.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return seconds
    return _seconds_until(value, now)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _seconds_until(date: str | None, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(date or "")
    except ValueError:
        return 0.0
    if moment.tzinfo is None:  # "-0000": UTC, the sender's zone is unknown
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
