"""Splits texts into requests, limited by number of texts and by tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: The API's limit of inputs per request.
MAX_TEXTS = 2048


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Size of one request, and the number of concurrent requests."""

    texts: int = 100
    #: OpenAI rejects more than 300,000 tokens per request. A third less leaves room for servers with smaller tokens.
    tokens: int = 200_000
    in_flight: int = 4

    def __post_init__(self) -> None:
        if not 1 <= self.texts <= MAX_TEXTS:
            raise ValueError(f"a batch holds 1 to {MAX_TEXTS} texts, not {self.texts}")
        if self.tokens < 1 or self.in_flight < 1:
            raise ValueError("a batch needs at least one token and one request in flight")


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive texts sent in one request."""

    index: int  #: position among the batches
    start: int  #: position of its first text among all texts
    texts: tuple[str, ...]
    tokens: int

    @property
    def end(self) -> int:
        """Position after its last text."""
        return self.start + len(self.texts)


def split(texts: Sequence[str], count_tokens: Callable[[str], int], limits: BatchLimits) -> list[Batch]:
    """Fill each batch up to both limits. Keeps the order; every text is in exactly one batch.

    A text that exceeds the token limit gets a batch of its own: the provider decides whether it is too long.
    """
    batches: list[Batch] = []
    current: list[str] = []
    tokens = 0
    for index, text in enumerate(texts):
        size = count_tokens(text)
        if current and (len(current) == limits.texts or tokens + size > limits.tokens):
            batches.append(Batch(len(batches), index - len(current), tuple(current), tokens))
            current, tokens = [], 0
        current.append(text)
        tokens += size
    if current:
        batches.append(Batch(len(batches), len(texts) - len(current), tuple(current), tokens))
    return batches
