"""Get a note of any kind by its public id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.errors import Conflict, NotFound, StoreDamaged
from nur.domain.filters import is_alive
from nur.services.indexing.chunk_text import text_hash

if TYPE_CHECKING:
    from nur.domain.access import Caller
    from nur.domain.filters import PrivacyFilter
    from nur.domain.notes import Note
    from nur.ports.clock import Clock
    from nur.ports.notes import NoteStore

#: Most attempts to read a note that is being written.
ROUNDS = 20


@dataclass(frozen=True, slots=True)
class GetNote:
    """Reads a note that the caller may see."""

    notes: NoteStore
    privacy: PrivacyFilter
    clock: Clock

    async def __call__(self, public_id: str, caller: Caller) -> Note:
        """The note. Raises NotFound if it is unknown, hidden from the caller, expired or in the trash."""
        note = await self.notes.get(caller.tenant, public_id)
        if note is None or not self.shows(note, caller):
            raise not_found(public_id)
        return note

    async def text(self, note: Note, *, start: int = 0, characters: int | None = None) -> str:
        """Its text from `start` on, up to `characters` if given. Raises NotFound if it was purged meanwhile."""
        texts = await self.notes.texts([note.note_id], characters, start)
        if note.note_id not in texts:
            raise not_found(note.public_id)
        return texts[note.note_id]

    async def with_text(self, note: Note, caller: Caller) -> tuple[Note, str]:
        """The current note and its whole text. Raises NotFound, and StoreDamaged if the text does not match its hash.

        Note and text are read one after the other. Where they do not belong together, somebody wrote in between, and
        the note has another revision by now; or the text was changed behind the store's back.
        """
        for _ in range(ROUNDS):
            text = await self.text(note)
            if await text_hash(text) == note.content_hash:
                return note, text
            now = await self(note.public_id, caller)
            if now.revision == note.revision:
                raise StoreDamaged(f"The text of {note.public_id} does not match its hash. Restore a backup.")
            note = now
        raise Conflict("Too many writers of the same note at once; it could not be read. Try again.")

    def shows(self, note: Note, caller: Caller) -> bool:
        """Whether the caller may see the note now."""
        return is_alive(note, self.clock.now()) and self.privacy.can_access(note, caller.principal)


def not_found(public_id: str) -> NotFound:
    """The error for a note that does not exist; a long id is cut."""
    return NotFound(f"Note {public_id if len(public_id) <= _ECHO else public_id[:_ECHO] + '…'} not found")


_ECHO = 120
