"""Eight clients write, edit and delete notes while the server is killed and restarted at random.

`NUR_FAULT_NOTES=10000` runs it at the specified length.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.killed_server import Onslaught

if TYPE_CHECKING:
    from pathlib import Path

NOTES = int(os.environ.get("NUR_FAULT_NOTES", "1000"))


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", [1, 2])
async def test_nothing_is_lost_and_nothing_doubled(tmp_path: Path, seed: int) -> None:
    onslaught = Onslaught(tmp_path / "data", seed)
    await onslaught.survive(NOTES)
    print(f"{NOTES} notes, {onslaught.restarts} restarts")
    assert onslaught.restarts >= 1
