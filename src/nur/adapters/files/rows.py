"""Converts table rows to lines that repeat the column names, so that each line can be understood by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAX_HEADER_CELL_CHARACTERS = 80


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: short, distinct texts, none of them a number."""
    if len(rows) < 2:
        return False
    first = [cell.strip() for cell in rows[0]]
    named = [cell for cell in first if cell]
    words = all(len(cell) <= _MAX_HEADER_CELL_CHARACTERS and not _is_number(cell) for cell in named)
    return bool(named) and len(set(named)) == len(named) and words and len(named) * 2 >= len(first)


def lines(rows: Sequence[Sequence[str]], first_number: int = 1) -> Iterator[str]:
    """One line per row with its row number. If there is a header, each cell follows its column's name.

    Empty cells and rows are skipped.
    """
    empty = next((number for number, row in enumerate(rows) if any(cell.strip() for cell in row)), len(rows))
    rows, first_number = rows[empty:], first_number + empty
    header = [" ".join(cell.split()) for cell in rows[0]] if has_header(rows) else []
    if header:
        yield f"Columns: {', '.join(cell for cell in header if cell)}"
    for number, row in enumerate(rows[1:] if header else rows, start=first_number + bool(header)):
        cells = [" ".join(cell.split()) for cell in row]
        shown = [_cell(header, column, cell) for column, cell in enumerate(cells) if cell]
        if shown:
            yield f"- row {number}: {'; '.join(shown)}"


def _cell(header: Sequence[str], column: int, cell: str) -> str:
    name = header[column] if column < len(header) else ""
    return f"{name}: {cell}" if name else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "").rstrip("%"))
    except ValueError:
        return False
    return True
