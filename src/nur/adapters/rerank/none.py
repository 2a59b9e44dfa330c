"""NoReranker: the order stays as fusion left it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class NoReranker:
    """Has no opinion; `max_chars` of 0 says so before anybody stitches a passage for it."""

    name = "none"
    max_chars = 0

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """All alike."""
        del query
        return [0.0] * len(passages)

    async def close(self) -> None:
        """Nothing to do."""
