"""IndexMarks: which chunks the vector index holds at their note's revision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import NoteId
    from nur.ports.chunks import ChunkWithNote


class IndexMarks(Protocol):
    """The store's record of what the index holds; `Outbox.finish` adds to it. Every method is one transaction."""

    async def is_indexed(self, note_id: NoteId) -> bool:
        """Whether the index holds every chunk of the note at its revision; True for a note without chunks."""
        ...

    async def mark_all(self, embedding_version: str, now: datetime) -> int:
        """Record that the index holds every chunk with a vector, and close the outbox rows of complete notes.

        Returns how many chunks the index holds.
        """
        ...

    async def clear(self, now: datetime) -> int:
        """Record that the index holds nothing, queue every note, oldest first, and return how many there are."""
        ...

    async def count(self, embedding_version: str) -> int:
        """How many chunks the index should hold."""
        ...

    async def sample(self, embedding_version: str, limit: int, now: datetime) -> list[ChunkWithNote]:
        """Random chunks that the index should hold and show; those of expired notes are left out."""
        ...
