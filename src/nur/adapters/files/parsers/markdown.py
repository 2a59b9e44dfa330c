"""Markdown: unchanged; title, author and date come from its front matter or first heading."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nur.adapters.files.source import iso_time
from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.adapters.files.source import SourceFile

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_FIELD = re.compile(r"^(title|author|date|url|source)[ \t]*:[ \t]*(.+?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_HEADING = re.compile(r"^#{1,2}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_HEADING_WITHIN = 4000  #: characters


def parse(file: SourceFile) -> Iterator[Document]:
    """One document."""
    text = file.text()
    matter = _FRONT_MATTER.match(text)
    fields = {name.lower(): value.strip("\"'") for name, value in _FIELD.findall(matter[1])} if matter else {}
    heading = _HEADING.search(text, matter.end() if matter else 0, _HEADING_WITHIN)
    yield Document(
        text=text,
        title=fields.get("title") or (heading[1] if heading else None),
        author=fields.get("author"),
        occurred_at=iso_time(fields.get("date")),
        url=fields.get("url") or fields.get("source"),
    )
