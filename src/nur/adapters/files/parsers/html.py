"""HTML: converts headings, paragraphs, lists, tables and code to Markdown; drops navigation, scripts and styles."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from nur.adapters.files import rows
from nur.adapters.files.source import TextBuilder, iso_time
from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.adapters.files.source import SourceFile

_SKIPPED = frozenset("script style noscript template svg nav footer iframe object select button form".split())
_BLOCKS = frozenset(
    "address article aside blockquote body dd div dl dt fieldset figcaption figure header hr html main ol p section "
    "summary details table tbody thead tr ul br".split()
)
#: Tags that start a block, with the Markdown prefix of its text.
_PREFIXES = {
    **dict.fromkeys(_BLOCKS, ""),
    **{f"h{level}": "#" * level + " " for level in range(1, 7)},
    "li": "- ",
    "pre": "",
}
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset=[\"']?([\w-]{1,40})", re.IGNORECASE)
#: Names of meta tags, in order of preference.
_AUTHOR = ("author", "article:author", "dc.creator")
_DATE = ("article:published_time", "date", "dc.date", "article:modified_time")
_URL = ("canonical", "og:url")
_TITLE = ("og:title",)
_MAX_TABLE_ROWS = 100_000


def parse(file: SourceFile) -> Iterator[Document]:
    """One document."""
    found = _CHARSET.search(file.data[:4096])
    yield document(file.text(found[1].decode() if found else None))


def document(html: str) -> Document:
    """A page as a document."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.end_block()
    meta = reader.meta
    return Document(
        text=reader.builder.text,
        title=reader.title.strip() or _first(meta, _TITLE) or first_heading(reader.builder.text),
        author=_first(meta, _AUTHOR),
        occurred_at=iso_time(_first(meta, _DATE)),
        url=_first(meta, _URL),
    )


def first_heading(text: str) -> str | None:
    """The first heading of a text that `document` returned."""
    found = _HEADING.search(text[:4000])
    return found[1] if found else None


def _first(meta: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((meta[name] for name in names if meta.get(name)), None)


class _Reader(HTMLParser):
    """Collects blocks of text. It builds no tree, so deep nesting is harmless."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.builder = TextBuilder()
        self.meta: dict[str, str] = {}
        self.title = ""
        self._line: list[str] = []
        self._prefix = ""
        self._skipped: list[str] = []
        self._in_title = False
        self._preformatted = 0
        self._rows: list[list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Start a block, or read a tag of the head."""
        if tag in _SKIPPED:
            self._skipped.append(tag)
        if self._skipped:
            return
        if tag in ("meta", "link"):
            self._remember(dict(attrs))
        elif tag == "title":
            self._in_title = True
        elif tag == "table":
            self._begin_table()
        elif self._rows is not None:
            self._table_start(tag)
        elif tag in _PREFIXES:
            self._begin_block(_PREFIXES[tag])
            self._preformatted += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        """End a block."""
        if self._skipped:
            if tag == self._skipped[-1]:
                self._skipped.pop()
            return
        if tag == "title":
            self._in_title = False
        elif tag == "table" and self._rows is not None:
            self._end_table()
        elif self._rows is not None:
            self._table_end(tag)
        elif tag == "pre" and self._preformatted:
            self.end_block()
            self._preformatted -= 1
        elif tag in _PREFIXES:
            self.end_block()

    def handle_data(self, data: str) -> None:
        """Add text to the block."""
        if self._in_title:
            self.title += data
        elif not self._skipped:
            self._line.append(data)

    def end_block(self) -> None:
        """Add the current block to the text."""
        text = "".join(self._line)
        line = text if self._preformatted else " ".join(text.split())
        if line.strip():
            self.builder.add(f"```\n{line.strip(chr(10))}\n```" if self._preformatted else self._prefix + line)
        self._line, self._prefix = [], ""

    def _begin_block(self, prefix: str) -> None:
        self.end_block()
        self._prefix = prefix

    def _remember(self, attributes: dict[str, str | None]) -> None:
        name = attributes.get("name") or attributes.get("property") or attributes.get("rel")
        value = attributes.get("content") or attributes.get("href")
        if name and value:
            self.meta.setdefault(name.lower(), value.strip())

    def _begin_table(self) -> None:
        """Start a table. A nested table, used for page layout, ends the outer one."""
        if self._rows is not None:
            self._end_table()
        self.end_block()
        self._rows = []

    def _table_start(self, tag: str) -> None:
        if self._rows is None or len(self._rows) > _MAX_TABLE_ROWS:
            return
        if tag == "tr":
            self._end_cell()
            self._rows.append([])
        elif tag in ("td", "th"):
            self._end_cell()
            if not self._rows:
                self._rows.append([])
            self._rows[-1].append("")
        elif tag in _BLOCKS or tag == "li":
            self._line.append(" ")

    def _table_end(self, tag: str) -> None:
        if tag in ("td", "th", "tr"):
            self._end_cell()

    def _end_cell(self) -> None:
        """Add the collected text to the open cell; text outside of cells becomes a paragraph before the table."""
        text = " ".join("".join(self._line).split())
        self._line = []
        if text and self._rows and self._rows[-1]:
            self._rows[-1][-1] = f"{self._rows[-1][-1]} {text}".strip()
        elif text:
            self.builder.add(text)

    def _end_table(self) -> None:
        self._end_cell()
        table = [row for row in self._rows or () if any(row)]
        self._rows = None
        if table and max(len(row) for row in table) == 1:  # a single column is page layout: paragraphs
            for row in table:
                self.builder.add(row[0])
        elif table:
            self.builder.add("\n".join(rows.lines(table)))
