"""Forget a note: it goes to the trash, and nothing finds it from then on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.errors import Conflict, NotFound, StaleRevision
from nur.domain.filters import is_alive
from nur.services.indexing.index_note import removal
from nur.services.notes.get_note import not_found

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.domain.access import Caller, WriteContext
    from nur.domain.notes import Kind, Note
    from nur.ports.clock import Clock
    from nur.ports.notes import NoteStore
    from nur.ports.vector_index import VectorIndex
    from nur.services.privacy import PrivacyFilter

#: Maximum optimistic-lock retries.
ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Forget:
    """Deletes a note with everything derived from it."""

    notes: NoteStore
    index: VectorIndex
    privacy: PrivacyFilter
    clock: Clock
    wake: Callable[[], None]

    async def __call__(self, public_id: str, kind: Kind | None, caller: Caller, *, revision: int | None = None) -> Note:
        """Delete a note and return it as it was; any kind with None. Raises NotFound, StaleRevision."""
        for _ in range(ROUNDS):
            note = await self.notes.get(caller.tenant, public_id)
            if note is None or not self._may_delete(note, kind, caller):
                raise NotFound(f"{kind.value.capitalize()} {public_id} not found") if kind else not_found(public_id)
            if revision is not None and note.revision != revision:
                raise StaleRevision(f"The note is at revision {note.revision}. Read it again, then delete.")
            try:
                await self.discard(note, "delete", caller.at(self.clock.now()))
            except Conflict:
                continue
            return note
        raise Conflict("Too many writers of the same note at once; nothing was deleted. Try again.")

    def _may_delete(self, note: Note, kind: Kind | None, caller: Caller) -> bool:
        asked = kind is None or note.kind is kind
        return asked and is_alive(note, self.clock.now()) and self.privacy.can_access(note, caller.principal)

    async def discard(self, note: Note, action: str, context: WriteContext) -> None:
        """Move exactly this state of a note to the trash. Raises Conflict."""
        gone = await self.notes.remove(note, context, action=action, indexed=self.index.follows_commits)
        if self.index.follows_commits:
            await self.index.apply([removal(gone)])
        else:
            self.wake()
