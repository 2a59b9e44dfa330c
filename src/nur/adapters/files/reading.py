"""From a file to its documents: which format it is, its parser, and what every document must be like."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from nur.adapters.files import archives
from nur.adapters.files.parsers import whatsapp
from nur.adapters.files.source import SourceFile, Unreadable, clean, decode
from nur.domain.documents import MOST_CHARACTERS, MOST_PLACES
from nur.domain.file_formats import FORMATS, HEAD_BYTES, FileFormat, is_text, suffix_format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.domain.documents import Document

#: Counts what parsers make of the same file: a new number lets files that have not changed be read again.
READER_VERSION = "1"

_LONGEST_TITLE = 500
_LONGEST_NAME = 200
_MOST_PARTICIPANTS = 100
#: Several headers, one of which every message has; or the line that a mailbox begins with.
_MAIL = re.compile(
    rb"(?:From \S{1,200}[ \t][^\n]{1,100}\n)?(?=(?:[\w-]{2,40}:[^\n]*\n(?:[ \t][^\n]*\n)*){2})"
    rb"(?=(?:.*\n)*(?:From|Received|Message-ID|Return-Path):)",
    re.IGNORECASE,
)
#: What only an archive of this format holds.
_INSIDE = {
    "docx": {"word/document.xml"},
    "pptx": {"ppt/presentation.xml"},
    "xlsx": {"xl/workbook.xml", "xl/workbook.bin"},
}
_OLDER_OFFICE = b"\xd0\xcf\x11\xe0"


def documents(file: SourceFile) -> Iterator[Document]:
    """The file's documents, each with a text. Raises Unreadable; what else a parser raises is its own."""
    if not file.data.strip():
        raise Unreadable("It is empty.")
    known = detect(file)
    parser = _parser(known)
    empty = True
    for found in parser.parse(file):
        document = _finished(found, known.name, file)
        if document.text.strip():
            empty = False
            yield document
    if empty:
        raise Unreadable("It holds no text.")


def detect(file: SourceFile) -> FileFormat:
    """The format: what the bytes say wins over the name. Raises Unreadable."""
    head = file.data[:HEAD_BYTES]
    if head.startswith(_OLDER_OFFICE):
        if file.suffix == ".xls":
            return FORMATS["xlsx"]
        raise Unreadable("It is an older Office file, or protected by a password: save it as .docx, .pptx or .xlsx.")
    if head.startswith(b"{\\rtf"):
        raise Unreadable("RTF is not read: save it as .docx.")
    if head.startswith(b"%PDF-"):
        return FORMATS["pdf"]
    if head.startswith(archives.BEGINNING):
        return _archive_format(file)
    if not is_text(head):
        raise Unreadable("It is not text, and not a format that can be read.")
    return _text_format(file, head)


def _archive_format(file: SourceFile) -> FileFormat:
    """What an archive holds says what it is."""
    names = set(archives.opened(file.data).namelist())
    for name, inner in _INSIDE.items():
        if names & inner:
            return FORMATS[name]
    return FORMATS["xlsx" if file.suffix == ".ods" else "export"]


def _text_format(file: SourceFile, head: bytes) -> FileFormat:
    """By the ending; plain text and endings that say nothing by how the text begins."""
    known = suffix_format(file.name)
    if known is not None and known.is_text and known.name != "text":
        return known
    if whatsapp.looks_like(decode(head)):
        return FORMATS["whatsapp"]
    if known is not None and known.is_text:
        return known
    opening = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:2000]
    if opening.lower().startswith((b"<!doctype html", b"<html")):
        return FORMATS["html"]
    if _MAIL.match(opening):
        return FORMATS["mbox" if opening.startswith(b"From ") else "email"]
    return FORMATS["text"]


def _parser(known: FileFormat) -> _Parser:
    try:
        return import_module(f"nur.adapters.files.parsers.{known.name}")
    except ImportError as error:
        if known.extra is None:
            raise
        raise Unreadable(f"{known.label} needs an extra: pip install 'nur-memory[{known.extra}]'") from error


def _finished(document: Document, name: str, file: SourceFile) -> Document:
    """Within the store's limits, without characters that it does not take, and with a title."""
    text = clean(document.text)
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(f"It holds a text of more than {MOST_CHARACTERS:,} characters: split it.")
    people = [_short(person, _LONGEST_NAME) for person in document.participants if person.strip()]
    return replace(
        document,
        text=text,
        title=_short(document.title or file.basename, _LONGEST_TITLE),
        author=_short(document.author, _LONGEST_NAME) if document.author and document.author.strip() else None,
        participants=tuple(dict.fromkeys(people))[:_MOST_PARTICIPANTS],
        places=document.places if len(document.places) <= MOST_PLACES else (),
        metadata={"format": name, **document.metadata},
    )


def _short(line: str, most: int) -> str:
    return " ".join(clean(line).split())[:most]


if TYPE_CHECKING:
    from typing import Protocol

    class _Parser(Protocol):
        """A module of `parsers`."""

        def parse(self, file: SourceFile) -> Iterator[Document]: ...
