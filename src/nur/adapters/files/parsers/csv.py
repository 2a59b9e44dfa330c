"""Delimited tables (CSV, TSV and others), row by row."""

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
    """One document: one line per row, each cell after its column's name."""
    text = file.text()
    csv.field_size_limit(sys.maxsize)
    table = list(csv.reader(text.splitlines(keepends=True), delimiter=_delimiter(text[:_SAMPLE])))
    yield Document(text="\n".join(rows.lines(table)), metadata={"rows": len(table)})


def _delimiter(sample: str) -> str:
    """The delimiter that occurs equally often in most of the first lines. csv.Sniffer may guess letters."""
    lines = [line for line in sample.splitlines()[:50] if line.strip()]
    return max(_DELIMITERS, key=lambda delimiter: (_agreement(lines, delimiter), -_DELIMITERS.index(delimiter)))


def _agreement(lines: list[str], delimiter: str) -> float:
    """Share of lines with as many delimiters as the first line; 0 if that has none."""
    expected = lines[0].count(delimiter) if lines else 0
    return sum(line.count(delimiter) == expected for line in lines) / len(lines) if expected else 0.0
