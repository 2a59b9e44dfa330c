"""Kill -9 at any moment of a write, many times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.killed_writer import KilledWriter

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("seed", [1, 2])
async def test_no_acknowledged_note_is_lost_and_none_is_partial(tmp_path: Path, seed: int) -> None:
    writer = KilledWriter(tmp_path / "data", seed)
    await writer.survive(rounds=12)
    assert len(writer.acknowledged) >= 12
