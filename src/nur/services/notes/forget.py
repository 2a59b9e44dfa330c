"""Forget a note: it goes to the trash and is found by nothing from then on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.errors import Conflict, NotFound, StaleRevision
from nur.domain.notes import Kind, Note, Status
from nur.services.indexing.index_note import removal
from nur.services.notes.get_note import not_found

if TYPE_CHECKING:
    from nur.domain.notes import Principal
    from nur.ports.ledger import Ledger
    from nur.ports.vector_index import VectorIndex
    from nur.services.privacy import PrivacyFilter

#: Each round another writer changed the note first.
ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Forget:
    """Deletes a note with everything derived from it."""

    ledger: Ledger
    index: VectorIndex
    privacy: PrivacyFilter

    async def __call__(
        self, public_id: str, kind: Kind | None, principal: Principal, *, revision: int | None = None
    ) -> Note:
        """Delete, and give back the note as it was; any kind with None. Raises NotFound, StaleRevision."""
        for _ in range(ROUNDS):
            note = await self.ledger.note(principal.tenant, public_id)
            if note is None or not self._may_delete(note, kind, principal):
                raise NotFound(f"{kind.value.capitalize()} {public_id} not found") if kind else not_found(public_id)
            if revision is not None and note.revision != revision:
                raise StaleRevision(f"The note is at revision {note.revision}. Read it again, then delete.")
            try:
                await self.discard(note, "delete", principal.name)
            except Conflict:
                continue
            return note
        raise Conflict("Too many writers of the same note at once; nothing was deleted. Try again.")

    def _may_delete(self, note: Note, kind: Kind | None, principal: Principal) -> bool:
        asked = kind is None or note.kind is kind
        return asked and note.status is Status.ACTIVE and self.privacy.can_access(note, principal)

    async def discard(self, note: Note, action: str, principal: str) -> None:
        """Move exactly this state of a note to the trash. Raises Conflict."""
        gone = await self.ledger.remove(note, action=action, principal=principal, indexed=self.index.follows_commits)
        if self.index.follows_commits:
            await self.index.apply([removal(gone)])
