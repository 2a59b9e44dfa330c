"""Real Office documents, written with the common libraries."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import docx
import openpyxl
import pptx
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

if TYPE_CHECKING:
    from collections.abc import Sequence


def pdf(pages: Sequence[Sequence[str | list[list[str]]]], **said: str) -> bytes:
    """A PDF from the paragraphs and tables of each page."""
    buffer, style = io.BytesIO(), getSampleStyleSheet()["Normal"]
    story: list[Any] = []
    for page in pages:
        story += [Paragraph(block, style) if isinstance(block, str) else Table(block) for block in page]
        story.append(PageBreak())
    SimpleDocTemplate(buffer, **said).build(story)
    return buffer.getvalue()


def word(title: str, sections: dict[str, str], table: list[list[str]] | None = None) -> bytes:
    """A Word document: a title, then headings with a paragraph each, then a table."""
    document = docx.Document()
    document.core_properties.title = title
    document.core_properties.author = "Mira"
    document.core_properties.modified = datetime(2026, 3, 1, 12, tzinfo=UTC)
    document.add_heading(title, 0)
    for heading, text in sections.items():
        document.add_heading(heading, 2)
        document.add_paragraph(text)
    if table:
        made = document.add_table(len(table), len(table[0]))
        for row, cells in enumerate(table):
            for column, cell in enumerate(cells):
                made.cell(row, column).text = cell
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def slides(pages: Sequence[tuple[str, Sequence[str], str]]) -> bytes:
    """A presentation from the title, bullet points and notes of each slide."""
    presentation = pptx.Presentation()
    presentation.core_properties.author = "Mira"
    for title, points, notes in pages:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(points)
        slide.notes_slide.notes_text_frame.text = notes
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def sheets(tables: dict[str, Sequence[Sequence[Any]]], *, empty_rows: int = 0) -> bytes:
    """A workbook with one sheet per table."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in tables.items():
        sheet = book.create_sheet(name)
        for row in [*([[]] * empty_rows), *rows]:
            sheet.append(list(row))
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()
