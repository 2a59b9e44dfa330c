"""Reads files as the parser process does, but in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.adapters.files.reading import documents
from nur.adapters.files.source import SourceFile

if TYPE_CHECKING:
    from nur.domain.documents import Document


def read(name: str, data: bytes | str) -> list[Document]:
    """All documents of a file."""
    return list(documents(SourceFile(name, data.encode() if isinstance(data, str) else data)))


def read_one(name: str, data: bytes | str) -> Document:
    """The only document of a file."""
    (document,) = read(name, data)
    return document
