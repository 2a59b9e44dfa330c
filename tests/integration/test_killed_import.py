"""Kill -9 during an import: the short form of tests/faults, for every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.empty_store import copy_store
from tests.killed_import import KilledImport

if TYPE_CHECKING:
    from pathlib import Path


def test_an_import_that_was_killed_is_simply_run_again(tmp_path: Path, empty_store: Path) -> None:
    KilledImport(copy_store(empty_store, tmp_path / "data"), tmp_path / "notes.jsonl", seed=5).survive(200, rounds=2)
