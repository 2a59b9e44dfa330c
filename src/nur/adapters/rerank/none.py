"""NoReranker: the order stays as fusion left it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class NoReranker:
    """Does not rerank. `max_chars` is 0, so that no passage is built for it."""

    name = "none"
    max_chars = 0

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """All alike."""
        del query
        return [0.0] * len(passages)

    async def close(self) -> None:
        """Nothing to do."""
