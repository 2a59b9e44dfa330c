"""When to ask again, and how long the server's wish counts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.adapters.openai.retries import Decision, GiveUp, RetryIn, after_failure, retry_after

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("failures", "asked", "jitter", "remaining", "decision"),
    [
        (1, 0.0, 0.0, 45.0, RetryIn(1.0)),
        (2, 0.0, 0.0, 45.0, RetryIn(2.0)),
        (3, 0.0, 0.0, 45.0, RetryIn(4.0)),  # the last retry allowed
        (4, 0.0, 0.0, 45.0, GiveUp()),  # three retries are spent
        (1, 9.0, 0.0, 45.0, RetryIn(9.0)),  # Retry-After is longer: obey it
        (3, 0.5, 0.0, 45.0, RetryIn(4.0)),  # Retry-After is shorter: our own wait stands
        (1, 0.0, 0.25, 45.0, RetryIn(1.25)),  # jitter comes on top
        (1, 9.0, 0.25, 45.0, RetryIn(9.25)),  # of the server's wish too, or all its clients come back at once
        (1, 60.0, 0.0, 45.0, GiveUp()),  # the wait would end after the deadline
        (1, 0.0, 0.0, 0.5, GiveUp()),  # so would this one
        (1, 0.0, 0.0, -1.0, GiveUp()),  # the deadline is past
    ],
)
def test_a_failure_leads_to_a_wait_or_the_end(
    failures: int, asked: float, jitter: float, remaining: float, decision: Decision
) -> None:
    assert decision == after_failure(
        failures, retries=3, retry_after_seconds=asked, jitter_seconds=jitter, remaining_seconds=remaining
    )


def test_no_retries_means_the_first_failure_is_the_last() -> None:
    decision = after_failure(1, retries=0, retry_after_seconds=0, jitter_seconds=0, remaining_seconds=45)
    assert decision == GiveUp()


@given(st.integers(1, 20), st.integers(0, 10), st.floats(0, 1e6), st.floats(0, 1), st.floats(0, 1e6))
def test_a_wait_is_never_shorter_than_asked_nor_longer_than_what_remains(
    failures: int, retries: int, asked: float, jitter: float, remaining: float
) -> None:
    decision = after_failure(
        failures, retries=retries, retry_after_seconds=asked, jitter_seconds=jitter, remaining_seconds=remaining
    )
    if isinstance(decision, RetryIn):
        assert asked <= decision.seconds < remaining


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250"}, 0.25),  # OpenAI's own header
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),  # the finer one wins
        ({"retry-after": "Thu, 01 Jan 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:30 -0000"}, 30.0),  # a date without a zone is UTC
        ({"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}, 0.0),  # the past
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": ""}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "nan"}, 0.0),
        ({"retry-after": "inf"}, 0.0),
    ],
)
def test_the_servers_wish_is_read_or_ignored(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers, NOW) == seconds
