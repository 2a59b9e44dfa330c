"""Plain text, unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.adapters.files.source import SourceFile


def parse(file: SourceFile) -> Iterator[Document]:
    """One document."""
    yield Document(text=file.text())
