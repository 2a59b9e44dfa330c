"""List notes, newest first, with their texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind
from nur.ports.notes import Order

if TYPE_CHECKING:
    from nur.domain.access import Caller
    from nur.domain.notes import Note
    from nur.ports.clock import Clock
    from nur.ports.notes import NoteStore, PageCursor
    from nur.services.privacy import PrivacyFilter


@dataclass(frozen=True, slots=True)
class ListNotes:
    """Pages through the notes that match a filter and that the caller may see."""

    notes: NoteStore
    privacy: PrivacyFilter
    clock: Clock

    async def __call__(
        self,
        where: NoteFilter,
        caller: Caller,
        *,
        limit: int,
        after: str | PageCursor | None = None,
        order: Order = Order.NEWEST,
        characters: int | None = None,
    ) -> list[tuple[Note, str]]:
        """Notes and their texts, or the first characters of them; `after` is the last one seen."""
        visible = self.privacy.visible(where, caller.principal)
        page = await self.notes.page(visible, self.clock.now(), limit=limit, order=order, after=after)
        texts = await self.notes.texts([note.note_id for note in page], characters)
        return [(note, texts[note.note_id]) for note in page if note.note_id in texts]

    async def count(self, caller: Caller) -> dict[Kind, int]:
        """How many notes of each kind the caller may see."""
        everything = NoteFilter(tenant=caller.tenant, kinds=frozenset(Kind))
        found = await self.notes.count(self.privacy.visible(everything, caller.principal), self.clock.now())
        return {kind: found.get(kind, 0) for kind in Kind}
