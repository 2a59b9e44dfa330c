"""StoreFacts: the store's own facts, such as its id, embedding version and analyzer version."""

from __future__ import annotations

from typing import Protocol

EMBEDDING_VERSION = "embedding_version"
#: The model that the store switches to when it is opened next.
NEXT_EMBEDDING_VERSION = "next_embedding_version"
#: When the store was restored from a backup; empty once the vector index has been filled again.
RESTORED = "restored"


class StoreFacts(Protocol):
    """Named values. Every method is one transaction."""

    async def get(self, name: str) -> str | None:
        """A fact, None if it is not set."""
        ...

    async def set_if_absent(self, name: str, value: str) -> str:
        """Set a fact unless it is set, and return its value."""
        ...

    async def set(self, name: str, value: str) -> None:
        """Set a fact."""
        ...
