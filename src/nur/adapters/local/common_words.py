"""How common words of other languages are in everyday text (`release/common_words.py` makes the table).

A small store cannot show that "veux" or "brauche" says little: it contains them once or not at all.
"""

from __future__ import annotations

import gzip
from functools import cached_property
from importlib import resources
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TABLE = "common_words.tsv.gz"
PIECES = 10_000  #: the table has the number of pieces out of this many


class CommonWords:
    """The table, read on first use."""

    def __init__(self) -> None:
        self._reading = Lock()

    def share(self, word: str) -> float:
        """Share of the pieces of everyday text that contain a casefolded word; 0 for rare words and English ones."""
        with self._reading:
            counts = self._counts
        return counts.get(word, 0) / PIECES

    @cached_property
    def _counts(self) -> Mapping[str, int]:
        lines = gzip.decompress(resources.files("nur.data").joinpath(TABLE).read_bytes()).decode().splitlines()
        return {word: int(count) for word, count in (line.split("\t") for line in lines)}
