"""Kill -9 at any moment of an import, many times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.empty_store import copy_store
from tests.killed_import import KilledImport

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.timeout(900)
def test_an_import_that_was_killed_is_simply_run_again(tmp_path: Path, empty_store: Path, seed: int) -> None:
    folder = copy_store(empty_store, tmp_path / "data")
    KilledImport(folder, tmp_path / "notes.jsonl", seed).survive(3_000, rounds=12)
