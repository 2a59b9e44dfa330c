"""Reads a file into documents: detects its format, runs the parser, and enforces the limits."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from nur.adapters.files import archives
from nur.adapters.files.parsers import whatsapp
from nur.adapters.files.source import SourceFile, Unreadable, clean, decode
from nur.domain.documents import MAX_PLACES
from nur.domain.file_formats import FORMATS, HEAD_BYTES, FileFormat, is_text, suffix_format
from nur.domain.notes import MAX_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.domain.documents import Document

#: Changes when parsers produce other documents for the same file, so that unchanged files are read again.
READER_VERSION = "1"

_MAX_TITLE_CHARACTERS = 500
_MAX_NAME_CHARACTERS = 200
_MAX_PARTICIPANTS = 100
#: At least two header lines, one of them found in every message; an mbox `From ` line may come first.
_MAIL = re.compile(
    rb"(?:From \S{1,200}[ \t][^\n]{1,100}\n)?(?=(?:[\w-]{2,40}:[^\n]*\n(?:[ \t][^\n]*\n)*){2})"
    rb"(?=(?:.*\n)*(?:From|Received|Message-ID|Return-Path):)",
    re.IGNORECASE,
)
#: Members that identify an archive's format.
_INSIDE = {
    "docx": {"word/document.xml"},
    "pptx": {"ppt/presentation.xml"},
    "xlsx": {"xl/workbook.xml", "xl/workbook.bin"},
}
_LEGACY_OFFICE = b"\xd0\xcf\x11\xe0"


def documents(file: SourceFile) -> Iterator[Document]:
    """The file's documents that have text. Raises Unreadable, or whatever else a parser raises."""
    if not file.data.strip():
        raise Unreadable("It is empty.")
    known = detect(file)
    parser = _parser(known)
    empty = True
    for parsed in parser.parse(file):
        document = _finished(parsed, known.name, file)
        if document.text.strip():
            empty = False
            yield document
    if empty:
        raise Unreadable("It contains no text.")


def detect(file: SourceFile) -> FileFormat:
    """The file's format; its bytes take precedence over its name. Raises Unreadable."""
    head = file.data[:HEAD_BYTES]
    if head.startswith(_LEGACY_OFFICE):
        if file.suffix == ".xls":
            return FORMATS["xlsx"]
        raise Unreadable("It is an older Office file, or protected by a password: save it as .docx, .pptx or .xlsx.")
    if head.startswith(b"{\\rtf"):
        raise Unreadable("RTF is not supported: save it as .docx.")
    if head.startswith(b"%PDF-"):
        return FORMATS["pdf"]
    if head.startswith(archives.SIGNATURE):
        return _archive_format(file)
    if not is_text(head):
        raise Unreadable("It is not text, and not a format that can be read.")
    return _text_format(file, head)


def _archive_format(file: SourceFile) -> FileFormat:
    """The format of a zip archive, by its members."""
    names = set(archives.open_archive(file.data).namelist())
    for name, inner in _INSIDE.items():
        if names & inner:
            return FORMATS[name]
    return FORMATS["xlsx" if file.suffix == ".ods" else "export"]


def _text_format(file: SourceFile, head: bytes) -> FileFormat:
    """The format by the file name's extension; for `.txt` and unknown extensions by how the text starts."""
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
    """Apply the store's limits, remove characters that it rejects, and set a title."""
    text = clean(document.text)
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(f"It contains a text of more than {MAX_CHARACTERS:,} characters: split it.")
    people = [_short(person, _MAX_NAME_CHARACTERS) for person in document.participants if person.strip()]
    return replace(
        document,
        text=text,
        title=_short(document.title or file.basename, _MAX_TITLE_CHARACTERS),
        author=_short(document.author, _MAX_NAME_CHARACTERS) if document.author and document.author.strip() else None,
        participants=tuple(dict.fromkeys(people))[:_MAX_PARTICIPANTS],
        places=document.places if len(document.places) <= MAX_PLACES else (),
        metadata={"format": name, **document.metadata},
    )


def _short(line: str, most: int) -> str:
    return " ".join(clean(line).split())[:most]


if TYPE_CHECKING:
    from typing import Protocol

    class _Parser(Protocol):
        """Interface of the modules in `parsers`."""

        def parse(self, file: SourceFile) -> Iterator[Document]: ...
