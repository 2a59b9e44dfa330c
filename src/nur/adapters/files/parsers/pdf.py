"""PDF files, page by page, read with pdfium."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pypdfium2

from nur.adapters.files.source import TextBuilder, Unreadable
from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.adapters.files.source import SourceFile

# pdfium writes U+0002 (U+FFFE in older files) for a hyphen at a line's end. It splits a word if a lower-case letter
# follows.
_HYPHEN = re.compile(r"[\x02\ufffe\u00ad]\s*(\w?)")
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:([+-])(\d{2})'?(\d{2}))?")
_UNSET = ("", "(unspecified)", "(anonymous)", "untitled")  #: placeholders that programs write for missing values


def parse(file: SourceFile) -> Iterator[Document]:
    """One document with one place per page. Scanned pages have no text."""
    pdf = _opened(file.data)
    builder = TextBuilder()
    for number in range(len(pdf)):
        builder.place(f"page {number + 1}")
        builder.add(_page_text(pdf, number))
    if not builder.text:
        raise Unreadable("It contains no text. Scanned pages need text recognition (OCR) first.")
    stated = {name: value for name, value in pdf.get_metadata_dict().items() if value not in _UNSET}
    yield Document(
        text=builder.text,
        title=stated.get("Title"),
        author=stated.get("Author"),
        occurred_at=_moment(stated.get("ModDate") or stated.get("CreationDate") or ""),
        places=builder.places,
        metadata={"pages": len(pdf)},
    )


def _opened(data: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise Unreadable("It is protected by a password.") from error
        raise Unreadable("It is a damaged PDF file.") from error


def _page_text(pdf: pypdfium2.PdfDocument, number: int) -> str:
    """A page's text; empty for a damaged page."""
    try:
        page = pdf[number]
        text: str = page.get_textpage().get_text_bounded()
        page.close()
    except pypdfium2.PdfiumError:
        return ""
    return _HYPHEN.sub(lambda match: match[1] if match[1].islower() else f"-{match[1]}", text.replace("\r\n", "\n"))


def _moment(written: str) -> datetime | None:
    match = _DATE.match(written)
    if match is None:
        return None
    parts = [int(match[place] or default) for place, default in enumerate((0, 1, 1, 0, 0, 0), start=1)]
    offset = timedelta(hours=int(match[8] or 0), minutes=int(match[9] or 0))
    try:
        zone = timezone(-offset if match[7] == "-" else offset)
        return datetime(*parts, tzinfo=zone).astimezone(UTC)  # type: ignore[arg-type,misc]
    except (ValueError, OverflowError):
        return None
