"""Read a note with its text and, where asked for, its chunks and near duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.writes import IndexState

if TYPE_CHECKING:
    from nur.domain.access import Caller
    from nur.domain.chunks import StoredChunk
    from nur.domain.notes import Note
    from nur.domain.writes import NearDuplicate
    from nur.ports.chunks import ChunkStore
    from nur.ports.index_marks import IndexMarks
    from nur.services.notes.find_duplicates import FindDuplicates
    from nur.services.notes.get_note import GetNote


@dataclass(frozen=True, slots=True)
class FullNote:
    """A note, as much of it as was asked for."""

    note: Note
    text: str
    index_state: IndexState
    chunks: list[StoredChunk] | None
    near_duplicates: list[NearDuplicate] | None


@dataclass(frozen=True, slots=True)
class ReadNote:
    """Reads a note of any kind by its public id."""

    get: GetNote
    chunks: ChunkStore
    index_marks: IndexMarks
    find_duplicates: FindDuplicates

    async def __call__(
        self, public_id: str, caller: Caller, *, chunks: bool = False, near_duplicates: bool = False
    ) -> FullNote:
        """The note. Raises NotFound, and IndexDown where near duplicates are asked for."""
        note = await self.get(public_id, caller)
        indexed = await self.index_marks.is_indexed(note.note_id)
        return FullNote(
            note=note,
            text=await self.get.text(note),
            index_state=IndexState.INDEXED if indexed else IndexState.PENDING,
            chunks=await self.chunks.of_note(note.note_id) if chunks else None,
            near_duplicates=await self.find_duplicates(note, caller) if near_duplicates else None,
        )
