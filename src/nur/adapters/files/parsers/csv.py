"""Tables as text: CSV, TSV and their relatives, row by row."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING

from nur.adapters.files import rows
from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.adapters.files.source import SourceFile

_DELIMITERS = ",;\t|"
_SAMPLE = 64 * 1024


def parse(file: SourceFile) -> Iterator[Document]:
    """One document: a line per row, each cell after its column's name."""
    text = file.text()
    csv.field_size_limit(sys.maxsize)
    found = list(csv.reader(text.splitlines(keepends=True), delimiter=_delimiter(text[:_SAMPLE])))
    yield Document(text="\n".join(rows.lines(found)), metadata={"rows": len(found)})


def _delimiter(sample: str) -> str:
    """What cuts most of the first lines into the same number of cells; the sniffer of the library guesses letters."""
    lines = [line for line in sample.splitlines()[:50] if line.strip()]
    return max(_DELIMITERS, key=lambda mark: (_agreement(lines, mark), -_DELIMITERS.index(mark)))


def _agreement(lines: list[str], mark: str) -> float:
    """The share of lines with as many marks as the first; none where that has no mark."""
    expected = lines[0].count(mark) if lines else 0
    return sum(line.count(mark) == expected for line in lines) / len(lines) if expected else 0.0
