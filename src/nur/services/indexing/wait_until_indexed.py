"""Wait until the index holds a note, for a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.writes import IndexState

if TYPE_CHECKING:
    from nur.domain.notes import NoteId
    from nur.ports.clock import Clock
    from nur.ports.index_marks import IndexMarks

LOOK_EVERY_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class WaitUntilIndexed:
    """Looks again and again, since another process may be the one that indexes."""

    index_marks: IndexMarks
    clock: Clock

    async def __call__(self, note_id: NoteId, seconds: float) -> IndexState:
        """The state after at most that many seconds."""
        deadline = self.clock.monotonic() + seconds
        while not await self.index_marks.is_indexed(note_id):
            if self.clock.monotonic() >= deadline:
                return IndexState.PENDING
            await self.clock.sleep(LOOK_EVERY_SECONDS)
        return IndexState.INDEXED
