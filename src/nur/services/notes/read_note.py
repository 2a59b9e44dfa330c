"""Read a note, optionally with its text or a part of it, its chunks and near duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.errors import BadRequest
from nur.domain.writes import IndexState

if TYPE_CHECKING:
    from nur.domain.access import Caller
    from nur.domain.chunks import StoredChunk
    from nur.domain.notes import Note
    from nur.domain.writes import NearDuplicate
    from nur.ports.chunks import ChunkStore
    from nur.ports.vector_index import IndexMarks
    from nur.services.notes.find_duplicates import FindDuplicates
    from nur.services.notes.get_note import GetNote
    from nur.services.notes.reviews import Reviews


@dataclass(frozen=True, slots=True)
class FullNote:
    """A note, with the requested parts."""

    note: Note
    text: str | None
    index_state: IndexState
    replaced_by: str | None  #: public id
    chunks: list[StoredChunk] | None
    near_duplicates: list[NearDuplicate] | None


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a note's text, in code points."""

    note: Note
    start_char: int
    text: str
    next_start: int | None  #: start of the next part; None at the end of the text

    @property
    def end_char(self) -> int:
        """End of the part, exclusive."""
        return self.start_char + len(self.text)


@dataclass(frozen=True, slots=True)
class ReadNote:
    """Reads a note of any kind by its public id."""

    get: GetNote
    chunks: ChunkStore
    index_marks: IndexMarks
    find_duplicates: FindDuplicates
    reviews: Reviews

    async def __call__(
        self,
        public_id: str,
        caller: Caller,
        *,
        text: bool = True,
        chunks: bool = False,
        near_duplicates: bool = False,
    ) -> FullNote:
        """The note. Raises NotFound, StoreDamaged, and IndexDown if near duplicates are requested."""
        note, whole = await self.get(public_id, caller), None
        if text:
            note, whole = await self.get.with_text(note, caller)
        indexed = await self.index_marks.is_indexed(note.note_id)
        return FullNote(
            note=note,
            text=whole,
            index_state=IndexState.INDEXED if indexed else IndexState.PENDING,
            replaced_by=(await self.reviews.superseded([note], caller)).get(note.note_id),
            chunks=await self.chunks.of_note(note.note_id) if chunks else None,
            near_duplicates=await self.find_duplicates(note, caller) if near_duplicates else None,
        )

    async def part(self, public_id: str, caller: Caller, start: int, end: int | None) -> TextPart:
        """The text from `start` to `end`, or to its own end. Raises NotFound, BadRequest."""
        if end is not None and end < start:
            raise BadRequest("end: must not be before start")
        note = await self.get(public_id, caller)
        characters = None if end is None else end - start
        read = await self.get.text(note, start=start, characters=None if characters is None else characters + 1)
        if characters is None or len(read) <= characters:
            return TextPart(note, start, read, None)
        return TextPart(note, start, read[:characters], end)
