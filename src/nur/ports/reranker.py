"""Reranker: a second opinion on the order of passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Reranker(Protocol):
    """Scores passages against a query."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    @property
    def max_chars(self) -> int:
        """Characters of a passage that it reads."""
        ...

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score per passage, in their order; higher is better. Raises RerankerDown."""
        ...

    async def close(self) -> None:
        """Let go of connections and models."""
        ...
