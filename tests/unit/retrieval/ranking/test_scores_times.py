"""What the time asked about adds to a score."""

from __future__ import annotations

from nur.domain.notes import ChunkKey
from nur.retrieval.ranking.scores import DATED, IN_WINDOW, time_bonuses


def test_what_was_said_then_and_what_names_a_time_gain_and_both_add_up() -> None:
    then, dated, both = ChunkKey(1), ChunkKey(2), ChunkKey(3)
    assert time_bonuses({then, both}, {dated, both}) == {then: IN_WINDOW, dated: DATED, both: IN_WINDOW + DATED}
