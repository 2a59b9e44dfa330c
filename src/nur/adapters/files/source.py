"""What parsers share: a file and its text, how it is refused, dates as files write them, texts built in blocks."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath

from nur.domain.documents import Place
from nur.domain.file_formats import HEAD_BYTES, utf16_without_mark

# Longer marks first: the one of UTF-32 begins with the one of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes, declared: str | None = None) -> str:
    """The text, its lines ended by line feeds. Never fails: what no encoding explains becomes U+FFFD."""
    for mark, encoding in _MARKS:
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
    """An encoding that this program knows; others are ignored."""
    try:
        return codecs.lookup(declared).name if declared else None
    except LookupError:
        return None


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def clean(text: str) -> str:
    """Without what the store does not take: NUL characters, and lone surrogates, which JSON can smuggle in."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


class Unreadable(Exception):
    """The file cannot be read; the text says why, without anything of its contents."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file's name, which may hold folders, and its bytes."""

    name: str
    data: bytes
    depth: int = 0  #: how many files it lies in: an attachment of an attachment is at 2

    @property
    def stem(self) -> str:
        """The name without folders and ending."""
        return PurePath(self.name).stem

    @property
    def suffix(self) -> str:
        """The ending, in small letters, with its dot."""
        return PurePath(self.name).suffix.lower()

    @property
    def basename(self) -> str:
        """The name without folders."""
        return PurePath(self.name).name

    def text(self, declared: str | None = None) -> str:
        """The bytes as text; `declared` is the encoding that the file names itself."""
        return decode(self.data, declared)


class TextBuilder:
    """Blocks with an empty line between them."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._places: list[Place] = []

    def add(self, block: str) -> None:
        """Add a block; one of blanks alone is left out."""
        block = clean(block).strip("\n").rstrip()
        if not block.strip():
            return
        if self._parts:
            block = f"\n\n{block}"
        self._parts.append(block)
        self._length += len(block)

    def place(self, label: str) -> None:
        """Say that the next block is the first of a page, slide or sheet."""
        self._places.append(Place(self._length, label))

    @property
    def text(self) -> str:
        """All blocks."""
        return "".join(self._parts)

    @property
    def places(self) -> tuple[Place, ...]:
        """The places, in order."""
        return tuple(self._places)


def moment(written: str | None) -> datetime | None:
    """An ISO 8601 date or time, in UTC; None for anything else. Without a zone it is taken as UTC."""
    if not written:
        return None
    try:
        return utc(datetime.fromisoformat(written.strip()))
    except ValueError:
        return None


def epoch(seconds: object) -> datetime | None:
    """A time in seconds since 1970, as a number or as digits; None for anything else."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | str):
        return None
    try:
        return datetime.fromtimestamp(float(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def utc(found: datetime | None) -> datetime | None:
    """In UTC; without a zone it is taken as UTC."""
    if found is None:
        return None
    try:
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        return None
