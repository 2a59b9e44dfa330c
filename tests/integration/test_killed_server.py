"""Notes over REST under kill -9: the short form of tests/faults, for every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.killed_server import Onslaught

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.timeout(300)
async def test_nothing_is_lost_and_nothing_doubled(tmp_path: Path) -> None:
    onslaught = Onslaught(tmp_path / "data", seed=5, between_kills=(10, 30))
    await onslaught.survive(notes=40)
    assert onslaught.texts
    assert onslaught.restarts >= 1
