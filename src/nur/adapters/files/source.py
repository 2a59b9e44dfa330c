"""Shared by the parsers: the source file, decoding, dates, and building a text from blocks."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath

from nur.domain.documents import Place
from nur.domain.file_formats import HEAD_BYTES, utf16_without_mark

# Longer byte order marks first: UTF-32's starts with UTF-16's.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes, declared: str | None = None) -> str:
    """The text, with line feeds as line ends. Never fails: undecodable bytes become U+FFFD."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _lines(data.decode(encoding, "replace"))
    head = data[:HEAD_BYTES]
    guesses = (_known(declared), utf16_without_mark(head) if b"\0" in head else None, "utf-8", "cp1252", "latin-1")
    for guess in filter(None, guesses):
        try:
            return _lines(data.decode(guess))
        except UnicodeDecodeError:
            continue
    return _lines(data.decode("utf-8", "replace"))


def _known(declared: str | None) -> str | None:
    """The declared encoding, if Python knows it."""
    try:
        return codecs.lookup(declared).name if declared else None
    except LookupError:
        return None


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def clean(text: str) -> str:
    """Remove NUL characters and replace lone surrogates, which JSON can contain: the store rejects both."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


class Unreadable(Exception):
    """The file cannot be read. The message says why, and quotes none of its contents."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file's name, possibly with folders, and its bytes."""

    name: str
    data: bytes
    depth: int = 0  #: nesting level: 2 for an attachment of an attachment

    @property
    def stem(self) -> str:
        """The name without folders and extension."""
        return PurePath(self.name).stem

    @property
    def suffix(self) -> str:
        """The extension, in lower case, with its dot."""
        return PurePath(self.name).suffix.lower()

    @property
    def basename(self) -> str:
        """The name without folders."""
        return PurePath(self.name).name

    def text(self, declared: str | None = None) -> str:
        """The bytes as text; `declared` is the encoding that the file declares."""
        return decode(self.data, declared)


class TextBuilder:
    """Builds a text from blocks, separated by empty lines."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._places: list[Place] = []

    def add(self, block: str) -> None:
        """Add a block; blank blocks are skipped."""
        block = clean(block).strip("\n").rstrip()
        if not block.strip():
            return
        if self._parts:
            block = f"\n\n{block}"
        self._parts.append(block)
        self._length += len(block)

    def place(self, label: str) -> None:
        """Mark the next block as the first of a page, slide or sheet."""
        self._places.append(Place(self._length, label))

    @property
    def text(self) -> str:
        """The text of all blocks."""
        return "".join(self._parts)

    @property
    def places(self) -> tuple[Place, ...]:
        """The places, in order."""
        return tuple(self._places)


def iso_time(text: str | None) -> datetime | None:
    """Parse an ISO 8601 date or time, and convert it to UTC; None for anything else. UTC is assumed without a zone."""
    if not text:
        return None
    try:
        return utc(datetime.fromisoformat(text.strip()))
    except ValueError:
        return None


def epoch(seconds: object) -> datetime | None:
    """Convert seconds since 1970, a number or a string, to a time; None for anything else."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | str):
        return None
    try:
        return datetime.fromtimestamp(float(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def utc(time: datetime | None) -> datetime | None:
    """Convert to UTC; UTC is assumed without a zone. None if out of range."""
    if time is None:
        return None
    try:
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except OverflowError:
        return None
