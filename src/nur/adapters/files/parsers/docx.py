"""Word documents: headings, lists, tables and footnotes, converted to HTML by mammoth."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import mammoth

from nur.adapters.files.office import properties
from nur.adapters.files.parsers import html
from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.adapters.files.source import SourceFile

_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => h2:fresh\ncomment-reference => sup"


def parse(file: SourceFile) -> Iterator[Document]:
    """One document. Pictures are left out."""
    stated = properties(file.data)
    no_pictures = mammoth.images.img_element(lambda _: {"src": ""})
    converted = mammoth.convert_to_html(io.BytesIO(file.data), style_map=_STYLES, convert_image=no_pictures)
    page = html.document(converted.value)
    yield Document(
        text=page.text,
        title=stated.title or html.first_heading(page.text),
        author=stated.author,
        occurred_at=stated.changed_at,
    )
