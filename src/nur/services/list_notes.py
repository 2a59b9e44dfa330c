"""List notes, newest first, with their texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.ports.ledger import Order

if TYPE_CHECKING:
    from nur.domain.notes import Note
    from nur.domain.selection import Selection
    from nur.ports.ledger import Ledger


@dataclass(frozen=True, slots=True)
class ListNotes:
    """Pages through the notes of a selection."""

    ledger: Ledger

    async def __call__(
        self, selection: Selection, *, limit: int, after: str | None = None, order: Order = Order.NEWEST
    ) -> list[tuple[Note, str]]:
        """Notes and their texts; `after` is the public id of the last one seen."""
        notes = await self.ledger.notes(selection, order=order, limit=limit, after=after)
        texts = await self.ledger.texts([note.note_id for note in notes])
        return [(note, texts[note.note_id]) for note in notes if note.note_id in texts]
