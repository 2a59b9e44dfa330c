"""Reranker: scores the best passages again with a stronger model."""

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
        """Maximum characters of a passage."""
        ...

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return one score per passage, in order; higher is better. Raises RerankerDown."""
        ...

    async def close(self) -> None:
        """Release connections and models."""
        ...
