"""Export every note of a tenant and what was decided about them, as records."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.records import encode, encode_decision, end, header

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from nur.domain.access import Caller, PrivacyFilter
    from nur.domain.archive import ArchivedNote
    from nur.domain.decisions import Decision, NotePair
    from nur.domain.notes import NoteId
    from nur.ports.archive import Archive
    from nur.ports.decisions import DecisionStore
    from nur.ports.notes import NoteStore

PAGE = 200
#: Texts in memory at a time, unless one note has more.
PAGE_CHARACTERS = 4_000_000


@dataclass(frozen=True, slots=True)
class ExportNotes:
    """Reads page by page, in the order of internal ids, which no write changes.

    Each note is whole and as it was at one moment. A note that exists from beginning to end is exported once; one that
    is added or erased meanwhile may be in or not. A backup is of one moment.
    """

    archive: Archive
    decisions: DecisionStore
    notes: NoteStore
    privacy: PrivacyFilter

    async def __call__(self, caller: Caller) -> AsyncIterator[bytes]:
        """The lines of an export, several in a piece; equal stores give equal bytes."""
        yield header()
        count = 0
        async for page in self.pages(caller):
            count += len(page)
            yield await asyncio.to_thread(_lines, page)
        async for decided in self._decisions(caller):
            yield b"".join(map(encode_decision, decided))
        yield end(count)

    async def _decisions(self, caller: Caller) -> AsyncIterator[list[Decision]]:
        """What was decided about notes that the caller may see, page by page."""
        after: NotePair | None = None
        while page := await self.decisions.page(caller.tenant, after, PAGE):
            after = page[-1].pair
            notes = await self.notes.by_ids([note_id for one in page for note_id in (one.pair.newer, one.pair.older)])
            seen = {key for key, note in notes.items() if self.privacy.can_access(note, caller.principal)}
            yield [one for one in page if {one.pair.newer, one.pair.older} <= seen]

    async def pages(self, caller: Caller) -> AsyncIterator[list[ArchivedNote]]:
        """The notes that the caller may see, page by page."""
        after: NoteId | None = None
        while page := await self.archive.page(caller.tenant, after, limit=PAGE, characters=PAGE_CHARACTERS):
            after = page[-1].note.note_id
            yield [one for one in page if self.privacy.can_access(one.note, caller.principal)]


def _lines(page: Sequence[ArchivedNote]) -> bytes:
    return b"".join(map(encode, page))
