"""What a parser gets, and how it says no."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from nur.adapters.files.decoding import decode


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
