"""Forget a note: it goes to the trash and is found by nothing from then on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.errors import Conflict, NotFound
from nur.domain.notes import Kind, Note, Status
from nur.services.index_note import removal

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

    async def __call__(self, public_id: str, kind: Kind, principal: Principal) -> Note:
        """Delete, and give back the note as it was. Raises NotFound."""
        for _ in range(ROUNDS):
            note = await self.ledger.note(principal.tenant, public_id)
            if note is None or note.kind is not kind or note.status is not Status.ACTIVE:
                raise NotFound(f"{kind.value.capitalize()} {public_id} not found")
            if not self.privacy.can_access(note, principal):
                raise NotFound(f"{kind.value.capitalize()} {public_id} not found")
            try:
                gone = await self.ledger.remove(
                    note, action="delete", principal=principal.name, indexed=self.index.follows_commits
                )
            except Conflict:
                continue
            if self.index.follows_commits:
                await self.index.apply([removal(gone)])
            return note
        raise Conflict("Too many writers of the same note at once; nothing was deleted. Try again.")
