"""Cutting texts into requests: by number of texts and by tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: The API takes no more inputs than this in one request.
MOST_TEXTS = 2048


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much goes into one request, and how many requests go at once."""

    texts: int = 100
    #: OpenAI refuses more than 300,000 tokens a request; a third less leaves room for servers whose tokens are smaller.
    tokens: int = 200_000
    in_flight: int = 4

    def __post_init__(self) -> None:
        if not 1 <= self.texts <= MOST_TEXTS:
            raise ValueError(f"a batch holds 1 to {MOST_TEXTS} texts, not {self.texts}")
        if self.tokens < 1 or self.in_flight < 1:
            raise ValueError("a batch needs at least one token and one request in flight")


@dataclass(frozen=True, slots=True)
class Batch:
    """Neighbouring texts that travel in one request."""

    index: int  #: its place among the batches
    start: int  #: the place of its first text among all texts
    texts: tuple[str, ...]
    tokens: int

    @property
    def end(self) -> int:
        """The place after its last text."""
        return self.start + len(self.texts)


def cut(texts: Sequence[str], count_tokens: Callable[[str], int], limits: BatchLimits) -> list[Batch]:
    """Fill each batch as far as both limits allow, keeping the order; every text is in exactly one.

    A text that alone is over the token limit travels alone: the provider decides whether it is too long.
    """
    batches: list[Batch] = []
    existing: list[str] = []
    tokens = 0
    for place, text in enumerate(texts):
        size = count_tokens(text)
        if existing and (len(existing) == limits.texts or tokens + size > limits.tokens):
            batches.append(Batch(len(batches), place - len(existing), tuple(existing), tokens))
            existing, tokens = [], 0
        existing.append(text)
        tokens += size
    if existing:
        batches.append(Batch(len(batches), len(texts) - len(existing), tuple(existing), tokens))
    return batches
