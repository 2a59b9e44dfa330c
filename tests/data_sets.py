"""Synthetic data sets for tests, in the format of `nur eval`."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def write_data_set(folder: Path, load_as: str, rows: Sequence[Any], questions: Sequence[Any]) -> Path:
    """Write a data set folder for `nur eval`, valid or not: nothing is checked here."""
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text(json.dumps({"load_as": load_as, "artifact_type": "doc"}), encoding="utf-8")
    for name, lines in (("corpus", rows), ("queries", questions)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    return folder
