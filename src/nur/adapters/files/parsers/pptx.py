"""Presentations, slide by slide, with their notes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pptx

from nur.adapters.files import rows
from nur.adapters.files.office import properties
from nur.adapters.files.source import TextBuilder
from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nur.adapters.files.source import SourceFile

_DEEPEST_GROUP = 20


def parse(file: SourceFile) -> Iterator[Document]:
    """One document with a place per slide."""
    said = properties(file.data)
    slides = pptx.Presentation(io.BytesIO(file.data)).slides
    built = TextBuilder()
    for number, slide in enumerate(slides, start=1):
        built.place(f"slide {number}")
        title = slide.shapes.title
        built.add(f"## {_heading(title, number)}")
        for block in _blocks(slide.shapes, title):
            built.add(block)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = slide.notes_slide.notes_text_frame.text.strip()
            built.add(f"Notes: {notes}" if notes else "")
    yield Document(
        text=built.text,
        title=said.title,
        author=said.author,
        occurred_at=said.changed_at,
        places=built.places,
        metadata={"slides": len(slides)},
    )


def _heading(title: Any, number: int) -> str:
    words = " ".join(title.text_frame.text.split()) if title is not None else ""
    return words or f"Slide {number}"


def _blocks(shapes: Iterable[Any], title: Any, depth: int = 0) -> Iterator[str]:
    """The texts of shapes other than the title's, in order; groups are opened."""
    for shape in shapes:
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if hasattr(shape, "shapes"):
            if depth < _DEEPEST_GROUP:
                yield from _blocks(shape.shapes, title, depth + 1)
        elif shape.has_text_frame:
            lines = ["  " * line.level + line.text.strip() for line in shape.text_frame.paragraphs if line.text.strip()]
            yield "\n".join(f"- {line}" if len(lines) > 1 else line for line in lines)
        elif shape.has_table:
            yield "\n".join(rows.lines([[cell.text for cell in row.cells] for row in shape.table.rows]))
