"""Eight clients over two servers and two workers on PostgreSQL, killed at random, PostgreSQL stopped and started.

`NUR_FAULT_NOTES=10000` runs it at the specified length.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.killed_replicas import ReplicasOnslaught

if TYPE_CHECKING:
    from pathlib import Path

NOTES = int(os.environ.get("NUR_FAULT_NOTES", "1000"))


@pytest.mark.timeout(7200)
async def test_nothing_is_lost_and_nothing_doubled(tmp_path: Path) -> None:
    onslaught = ReplicasOnslaught(tmp_path / "replicas", seed=1)
    await onslaught.survive(NOTES)
    print(f"{NOTES} notes, {onslaught.searches} searches, killed or stopped: {onslaught.kills}")
    assert onslaught.restarts >= 3
