"""Spreadsheets, sheet by sheet and row by row, read with calamine: all Excel formats and OpenDocument."""

from __future__ import annotations

import io
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum

from nur.adapters.files import archives, rows
from nur.adapters.files.office import Properties, properties
from nur.adapters.files.source import TextBuilder, Unreadable
from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.adapters.files.source import SourceFile


def parse(file: SourceFile) -> Iterator[Document]:
    """One document with one place per sheet. Formulas are read as their last result."""
    stated = properties(file.data) if file.data.startswith(archives.SIGNATURE) else Properties()
    builder = TextBuilder()
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(file.data))
        sheets = [sheet.name for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
        for name in sheets:
            found = [[_shown(cell) for cell in row] for row in book.get_sheet_by_name(name).iter_rows()]
            lines = "\n".join(rows.lines(found))
            builder.place(f"sheet {name}")
            builder.add(f"## {name}\n\n{lines}" if lines else "")
    except PasswordError as error:
        raise Unreadable("It is protected by a password.") from error
    except CalamineError as error:
        raise Unreadable("It is a damaged spreadsheet.") from error
    yield Document(
        text=builder.text,
        title=stated.title,
        author=stated.author,
        occurred_at=stated.changed_at,
        places=builder.places,
        metadata={"sheets": sheets},
    )


def _shown(cell: Any) -> str:
    """A cell's value as readable text."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(" ", "minutes")
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)
