"""Source code and configuration: as it is, under its path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.adapters.files.source import SourceFile


def parse(file: SourceFile) -> Iterator[Document]:
    """One document. Many files of a project are called `__init__.py`: the path tells them apart."""
    yield Document(text=file.text(), title=file.name)
