"""Wait until a written note is indexed, and report its near duplicates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.errors import IndexDown
from nur.domain.writes import IndexState

if TYPE_CHECKING:
    from nur.domain.access import Caller
    from nur.domain.notes import Note, NoteId
    from nur.domain.writes import NearDuplicate, Stored
    from nur.ports.clock import Clock
    from nur.ports.vector_index import IndexMarks
    from nur.services.notes.find_duplicates import FindDuplicates

POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class WaitUntilIndexed:
    """Polls the store, as another process may index the note."""

    index_marks: IndexMarks
    find_duplicates: FindDuplicates
    clock: Clock

    async def __call__(self, stored: Stored, caller: Caller, seconds: float) -> Stored:
        """Wait at most that many seconds. Returns the write's result, with near duplicates if the note is indexed."""
        if not await self._is_indexed(stored.note.note_id, seconds):
            return replace(stored, index_state=IndexState.PENDING)
        near = await self._near_duplicates(stored.note, caller)
        return replace(stored, index_state=IndexState.INDEXED, near_duplicates=near)

    async def _is_indexed(self, note_id: NoteId, seconds: float) -> bool:
        deadline = self.clock.monotonic() + seconds
        while not await self.index_marks.is_indexed(note_id):
            if self.clock.monotonic() >= deadline:
                return False
            await self.clock.sleep(POLL_SECONDS)
        return True

    async def _near_duplicates(self, note: Note, caller: Caller) -> tuple[NearDuplicate, ...] | None:
        try:
            return tuple(await self.find_duplicates(note, caller))
        except IndexDown:  # optional information: the note is stored anyway
            return None
