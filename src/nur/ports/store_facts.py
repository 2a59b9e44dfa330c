"""StoreFacts: named values about the store itself, such as its id and embedding version."""

from __future__ import annotations

from typing import Protocol

EMBEDDING_VERSION = "embedding_version"
#: Embedding version that the store switches to when it is next opened.
NEXT_EMBEDDING_VERSION = "next_embedding_version"
#: When the store was restored from a backup; empty once the vector index has been rebuilt.
RESTORED = "restored"


class StoreFacts(Protocol):
    """Named values. Every method is one transaction."""

    async def get(self, name: str) -> str | None:
        """Return a fact; None if it is not set."""
        ...

    async def set_if_absent(self, name: str, value: str) -> str:
        """Set a fact unless it is already set. Returns its value."""
        ...

    async def set(self, name: str, value: str) -> None:
        """Set a fact."""
        ...
