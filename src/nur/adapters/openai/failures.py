"""Classifies failed requests and words the error for the caller."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import openai

from nur.adapters.openai.retries import retry_after
from nur.domain.errors import EmbedderDown, EmbedderRefused, KeyRefused, NurError

if TYPE_CHECKING:
    from datetime import datetime

KEY_REFUSED = "OpenAI API key is invalid or missing. Check OPENAI_API_KEY environment variable."

#: Provider error codes that are useful and cannot contain any of the text; others are not passed on.
_SHOWN_CODES = frozenset({"context_length_exceeded", "string_above_max_length", "invalid_value", "unsupported_value"})


class FailureKind(StrEnum):
    """What went wrong; the value appears in logs and metrics."""

    RATE_LIMIT = "rate_limit"
    SERVER = "server_error"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    ANSWER = "bad_answer"
    DIMENSIONS = "wrong_dimensions"
    MODEL = "unknown_model"
    INPUT = "invalid_input"
    KEY = "auth"

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed later."""
        return self in _TRANSIENT


_TRANSIENT = frozenset(
    {FailureKind.RATE_LIMIT, FailureKind.SERVER, FailureKind.TIMEOUT, FailureKind.CONNECTION, FailureKind.ANSWER}
)

_BY_STATUS = {
    401: FailureKind.KEY,
    403: FailureKind.KEY,
    404: FailureKind.MODEL,
    408: FailureKind.TIMEOUT,
    409: FailureKind.SERVER,
    425: FailureKind.SERVER,
    429: FailureKind.RATE_LIMIT,
}


class RequestError(RuntimeError):
    """A request that returned no vectors; `attempts` counts it and its retries."""

    def __init__(self, kind: FailureKind, details: str = "", *, retry_after_seconds: float = 0.0) -> None:
        super().__init__(kind.value)
        self.kind = kind
        self.details = details  #: safe to show to the caller
        self.retry_after_seconds = retry_after_seconds
        self.attempts = 1


def from_vendor(error: openai.OpenAIError, now: datetime) -> RequestError:
    """The client's error as a RequestError. Its message is dropped, because it quotes the provider's response."""
    if isinstance(error, openai.APITimeoutError):
        return RequestError(FailureKind.TIMEOUT)
    if isinstance(error, openai.APIStatusError):
        return _from_status(error, now)
    return RequestError(FailureKind.CONNECTION)


def _from_status(error: openai.APIStatusError, now: datetime) -> RequestError:
    status = error.status_code
    kind = _BY_STATUS.get(status) or (FailureKind.INPUT if 400 <= status < 500 else FailureKind.SERVER)
    details = f"the provider answered HTTP {status}"
    if error.code in _SHOWN_CODES:
        details += f" ({error.code})"
    return RequestError(kind, details, retry_after_seconds=retry_after(error.response.headers, now))


def final_error(failure: RequestError, *, retries: int, failed: int, total: int) -> NurError:
    """The error that a call raises: the specification's message, and how many texts have no vector."""
    if failure.kind is FailureKind.KEY:
        return KeyRefused(KEY_REFUSED, failed=failed, total=total)
    if failure.kind is FailureKind.INPUT:
        return EmbedderRefused(f"Invalid text for embedding: {failure.details}", failed=failed, total=total)
    # The operator must fix a wrong model or size: deferred writes wait for that, but callers should not retry.
    return EmbedderDown(_message(failure, retries), failed=failed, total=total, retryable=failure.kind.is_transient)


def probe_error(failure: RequestError) -> NurError:
    """The error of a probe, a single request without retries."""
    if failure.kind is FailureKind.CONNECTION:
        return EmbedderDown("Cannot connect to OpenAI API. Check the network and OPENAI_BASE_URL.", failed=1, total=1)
    return final_error(failure, retries=0, failed=1, total=1)


def _message(failure: RequestError, retries: int) -> str:
    # The specification says three attempts for one request and three retries; its wording is kept.
    attempts = max(1, min(failure.attempts, retries))
    plural = "" if attempts == 1 else "s"
    match failure.kind:
        case FailureKind.RATE_LIMIT:
            return f"Failed after {attempts} attempt{plural} due to rate limiting. Try again later."
        case FailureKind.TIMEOUT:
            return f"Request failed after {attempts} timeout{plural}."
        case FailureKind.ANSWER:
            return f"OpenAI returned no usable embeddings in {attempts} attempt{plural}: {failure.details}."
        case FailureKind.DIMENSIONS:
            return f"The embedding model returned {failure.details}. Check OPENAI_EMBED_MODEL and OPENAI_EMBED_DIMS."
        case FailureKind.MODEL:
            return "The provider does not know the embedding model. Check OPENAI_EMBED_MODEL and OPENAI_BASE_URL."
        case _:
            return f"OpenAI service unavailable after {attempts} attempt{plural}."
