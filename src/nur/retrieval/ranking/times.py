"""What the time that a question asks about adds to a candidate's score. It never takes a candidate away."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from nur.domain.notes import ChunkKey

IN_WINDOW = 0.10
"""For what was said in the stretch that the question names, or speaks of it."""

DATED = 0.06
"""For what names a time, where the question asks when."""


def time_bonuses(in_window: AbstractSet[ChunkKey], dated: AbstractSet[ChunkKey]) -> Mapping[ChunkKey, float]:
    """What is added to the score of each of these."""
    return {key: IN_WINDOW * (key in in_window) + DATED * (key in dated) for key in in_window | dated}
