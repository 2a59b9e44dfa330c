"""List notes, newest first, with their texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.ports.ledger import Order

if TYPE_CHECKING:
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import Note, Principal
    from nur.ports.ledger import Ledger
    from nur.services.privacy import PrivacyFilter


@dataclass(frozen=True, slots=True)
class ListNotes:
    """Pages through the notes of a selection that the principal may see."""

    ledger: Ledger
    privacy: PrivacyFilter

    async def __call__(
        self,
        where: NoteFilter,
        principal: Principal,
        *,
        limit: int,
        after: str | None = None,
        order: Order = Order.NEWEST,
    ) -> list[tuple[Note, str]]:
        """Notes and their texts; `after` is the public id of the last one seen."""
        seen: list[Note] = []
        while len(seen) < limit:
            page = await self.ledger.notes(where, order=order, limit=limit, after=after)
            seen += [note for note in page if self.privacy.can_access(note, principal)]
            if len(page) < limit:
                break
            after = page[-1].public_id
        texts = await self.ledger.texts([note.note_id for note in seen[:limit]])
        return [(note, texts[note.note_id]) for note in seen[:limit] if note.note_id in texts]
