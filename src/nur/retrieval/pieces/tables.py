"""Tables in plain text: lines that follow each other and have the same number of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_DELIMITERS = (",", ";", "\t", "|")
#: In prose, these are followed by a space; between cells they are not.
_USED_IN_PROSE = (",", ";")
LEAST_DELIMITERS = 3
LEAST_ROWS = 3
#: How many delimiters rows may differ by: a cell may contain one.
SLACK = 1


def find_tables(lines: Sequence[str]) -> dict[int, int]:
    """The lines that are rows of a table, each with the number of its table's first line, the header."""
    header_of: dict[int, int] = {}
    line = 0
    while line < len(lines):
        rows = max(_rows_from(lines, line, delimiter) for delimiter in _DELIMITERS)
        header_of |= dict.fromkeys(range(line, line + rows), line)
        line += rows or 1
    return header_of


def _rows_from(lines: Sequence[str], first: int, delimiter: str) -> int:
    """How many rows the table has that begins with this line; 0 when there is none."""
    cells = _delimiters(lines[first], delimiter)
    if cells < LEAST_DELIMITERS:
        return 0
    end = first + 1
    while end < len(lines) and _is_row(lines[end], delimiter, cells):
        end += 1
    return end - first if end - first >= LEAST_ROWS else 0


def _is_row(line: str, delimiter: str, cells: int) -> bool:
    here = _delimiters(line, delimiter)
    return here >= LEAST_DELIMITERS and abs(here - cells) <= SLACK


def _delimiters(line: str, delimiter: str) -> int:
    in_prose = line.count(delimiter + " ") if delimiter in _USED_IN_PROSE else 0
    return line.count(delimiter) - in_prose
