"""Kill -9 during backups and restores, many times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.empty_store import copy_store
from tests.killed_backup import KilledBackup

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def killed(tmp_path: Path, empty_store: Path) -> KilledBackup:
    return KilledBackup(copy_store(empty_store, tmp_path / "data"), tmp_path, seed=7)


@pytest.mark.timeout(900)
def test_a_backup_that_was_killed_leaves_nothing_that_passes_for_one(killed: KilledBackup) -> None:
    killed.survive_backups(rounds=20)


@pytest.mark.timeout(900)
def test_a_restore_that_was_killed_loses_no_store(killed: KilledBackup) -> None:
    killed.survive_restores(rounds=30)
