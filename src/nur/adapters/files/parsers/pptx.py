"""Presentations, slide by slide, with speaker notes."""

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

_MAX_GROUP_DEPTH = 20


def parse(file: SourceFile) -> Iterator[Document]:
    """One document with one place per slide."""
    stated = properties(file.data)
    slides = pptx.Presentation(io.BytesIO(file.data)).slides
    builder = TextBuilder()
    for number, slide in enumerate(slides, start=1):
        builder.place(f"slide {number}")
        title = slide.shapes.title
        builder.add(f"## {_heading(title, number)}")
        for block in _blocks(slide.shapes, title):
            builder.add(block)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = slide.notes_slide.notes_text_frame.text.strip()
            builder.add(f"Notes: {notes}" if notes else "")
    yield Document(
        text=builder.text,
        title=stated.title,
        author=stated.author,
        occurred_at=stated.changed_at,
        places=builder.places,
        metadata={"slides": len(slides)},
    )


def _heading(title: Any, number: int) -> str:
    words = " ".join(title.text_frame.text.split()) if title is not None else ""
    return words or f"Slide {number}"


def _blocks(shapes: Iterable[Any], title: Any, depth: int = 0) -> Iterator[str]:
    """The texts of all shapes but the title, in order, including shapes in groups."""
    for shape in shapes:
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if hasattr(shape, "shapes"):
            if depth < _MAX_GROUP_DEPTH:
                yield from _blocks(shape.shapes, title, depth + 1)
        elif shape.has_text_frame:
            lines = ["  " * line.level + line.text.strip() for line in shape.text_frame.paragraphs if line.text.strip()]
            yield "\n".join(f"- {line}" if len(lines) > 1 else line for line in lines)
        elif shape.has_table:
            yield "\n".join(rows.lines([[cell.text for cell in row.cells] for row in shape.table.rows]))
