"""Source code and configuration: unchanged, with the path as title."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.adapters.files.source import SourceFile


def parse(file: SourceFile) -> Iterator[Document]:
    """One document. Its title is the path, because many files share a name such as `__init__.py`."""
    yield Document(text=file.text(), title=file.name)
