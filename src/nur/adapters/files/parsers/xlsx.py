"""Spreadsheets, sheet by sheet and row by row, with calamine: Excel of any age, and OpenDocument."""

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
    """One document with a place per sheet. Of formulas the last result is read."""
    said = properties(file.data) if file.data.startswith(archives.BEGINNING) else Properties()
    built = TextBuilder()
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(file.data))
        sheets = [sheet.name for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
        for name in sheets:
            found = [[_shown(cell) for cell in row] for row in book.get_sheet_by_name(name).iter_rows()]
            lines = "\n".join(rows.lines(found))
            built.place(f"sheet {name}")
            built.add(f"## {name}\n\n{lines}" if lines else "")
    except PasswordError as error:
        raise Unreadable("It is protected by a password.") from error
    except CalamineError as error:
        raise Unreadable("It is a damaged spreadsheet.") from error
    yield Document(
        text=built.text,
        title=said.title,
        author=said.author,
        occurred_at=said.changed_at,
        places=built.places,
        metadata={"sheets": sheets},
    )


def _shown(cell: Any) -> str:
    """A cell's value as people write it."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(" ", "minutes")
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)
