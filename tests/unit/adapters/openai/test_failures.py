"""What callers are told: the specification's words, and nothing the provider said."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx2
import openai
import pytest

from nur.adapters.openai.failures import FailureKind, RequestError, final_error, from_vendor
from nur.domain.errors import EmbedderDown, EmbedderRefused, KeyRefused, NurError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
REQUEST = httpx2.Request("POST", "http://provider/v1/embeddings")


def answered(status: int, code: str | None = None) -> openai.APIStatusError:
    response = httpx2.Response(status, request=REQUEST)
    return openai.APIStatusError("canary", response=response, body={"message": "canary", "code": code})


@pytest.mark.parametrize(
    ("kind", "attempts", "message"),
    [
        (FailureKind.RATE_LIMIT, 4, "Failed after 3 attempts due to rate limiting. Try again later."),
        (FailureKind.SERVER, 4, "OpenAI service unavailable after 3 attempts."),
        (FailureKind.CONNECTION, 4, "OpenAI service unavailable after 3 attempts."),
        (FailureKind.TIMEOUT, 4, "Request failed after 3 timeouts."),
        (FailureKind.TIMEOUT, 2, "Request failed after 2 timeouts."),  # the deadline came first
        (FailureKind.SERVER, 1, "OpenAI service unavailable after 1 attempt."),
    ],
)
def test_the_last_word_is_the_specifications(kind: FailureKind, attempts: int, message: str) -> None:
    failure = RequestError(kind)
    failure.attempts = attempts
    error = final_error(failure, retries=3, failed=5, total=9)
    assert type(error) is EmbedderDown
    assert (str(error), error.failed, error.total, error.retryable) == (message, 5, 9, True)


@pytest.mark.parametrize(
    ("status", "kind", "passing", "raised"),
    [
        (400, FailureKind.INPUT, False, EmbedderRefused),
        (401, FailureKind.KEY, False, KeyRefused),
        (403, FailureKind.KEY, False, KeyRefused),
        (404, FailureKind.MODEL, False, EmbedderDown),  # mendable by the operator: what was deferred may wait for it
        (408, FailureKind.TIMEOUT, True, EmbedderDown),
        (413, FailureKind.INPUT, False, EmbedderRefused),
        (422, FailureKind.INPUT, False, EmbedderRefused),
        (429, FailureKind.RATE_LIMIT, True, EmbedderDown),
        (500, FailureKind.SERVER, True, EmbedderDown),
        (502, FailureKind.SERVER, True, EmbedderDown),
        (503, FailureKind.SERVER, True, EmbedderDown),
        (529, FailureKind.SERVER, True, EmbedderDown),
    ],
)
def test_each_status_has_its_kind(status: int, kind: FailureKind, passing: bool, raised: type[NurError]) -> None:
    failure = from_vendor(answered(status), NOW)
    error = final_error(failure, retries=3, failed=1, total=1)
    assert (failure.kind, failure.kind.is_transient, type(error)) == (kind, passing, raised)
    assert "canary" not in str(error)


def test_a_refusal_names_a_known_reason_and_no_other() -> None:
    known = final_error(from_vendor(answered(400, "context_length_exceeded"), NOW), retries=3, failed=1, total=1)
    other = final_error(from_vendor(answered(400, "canary"), NOW), retries=3, failed=1, total=1)
    assert str(known) == "Invalid text for embedding: the provider answered HTTP 400 (context_length_exceeded)"
    assert str(other) == "Invalid text for embedding: the provider answered HTTP 400"
