"""FileReader: extracts documents from files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from nur.domain.documents import Document


class FileReader(Protocol):
    """Turns a file's bytes into documents, within limits on time and memory."""

    @property
    def version(self) -> str:
        """Changes when the same file would be read differently."""

    async def read(self, name: str, data: bytes) -> list[Document]:
        """Return the file's documents, the whole file first. Raises FileRefused with the reason."""

    async def close(self) -> None:
        """Stop the reading processes."""
