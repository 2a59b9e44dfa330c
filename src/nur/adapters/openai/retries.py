"""When to ask the provider again: decisions as values, nothing here waits."""

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
    """How long one call may try."""

    retries: int = 3  #: requests after the first failed one
    timeout_seconds: float = 30.0  #: one request, from connecting to its last byte
    deadline_seconds: float = 45.0  #: the whole call: its batches, their retries and the waits between
    query_seconds: float = 2.0  #: a question with its retries: a search has words to answer from
    probe_seconds: float = 5.0  #: a probe, which is never retried


@dataclass(frozen=True, slots=True)
class RetryIn:
    """Retry after this many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Retrying would not help, or would be too late."""


Decision: TypeAlias = RetryIn | GiveUp


def after_failure(
    failures: int, *, retries: int, asked_seconds: float, jitter_seconds: float, remaining_seconds: float
) -> Decision:
    """Wait 1, 2, 4, … seconds, or as long as the server asked if that is longer; plus jitter in both cases.

    The jitter is added to the server's wish too: a provider that sends many clients away for the same ten seconds
    would otherwise meet them all again at once. A wait that ends after the deadline is not begun.
    """
    if failures > retries:
        return GiveUp()
    wait = max(2.0 ** (failures - 1), asked_seconds) + jitter_seconds
    return RetryIn(wait) if wait < remaining_seconds else GiveUp()


def asked_wait(headers: Mapping[str, str], now: datetime) -> float:
    """The seconds a server asks to be left alone: `retry-after-ms`, or `Retry-After` as seconds or a date.

    0.0 when it asks nothing, or nothing that can be read.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    seconds = _number(asked)
    if seconds is not None:
        return seconds
    return _seconds_until(asked, now)


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
    if moment.tzinfo is None:  # "-0000" is UTC without saying where the sender is
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
