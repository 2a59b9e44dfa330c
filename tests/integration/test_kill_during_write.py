"""Kill -9 during a write: the short form of tests/faults, for every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.killed_writer import KilledWriter

if TYPE_CHECKING:
    from pathlib import Path


async def test_no_acknowledged_note_is_lost_and_none_is_partial(tmp_path: Path) -> None:
    writer = KilledWriter(tmp_path / "data", seed=3)
    await writer.survive(rounds=3)
    assert len(writer.acknowledged) >= 3
