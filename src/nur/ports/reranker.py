"""Reranker: a second opinion on the order of passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Reranker(Protocol):
    """Scores passages against a query."""

    @property
    def name(self) -> str:
        """`none`, or the model's name."""
        ...

    async def score(self, query: str, passages: Sequence[str]) -> list[float] | None:
        """A score a passage, higher is better; None when there is no opinion. Raises Unavailable."""
        ...
