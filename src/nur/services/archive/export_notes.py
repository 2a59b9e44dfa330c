"""Export a tenant's notes, and the decisions about them, as records."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.records import encode, encode_decision, end, header

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from nur.domain.access import Caller
    from nur.domain.archive import ArchivedNote
    from nur.domain.decisions import Decision, NotePair
    from nur.domain.filters import PrivacyFilter
    from nur.domain.notes import NoteId
    from nur.ports.archive import Archive
    from nur.ports.decisions import DecisionStore
    from nur.ports.notes import NoteStore

PAGE = 200
#: Characters of text in memory at a time, unless one note has more.
PAGE_CHARACTERS = 4_000_000


@dataclass(frozen=True, slots=True)
class ExportNotes:
    """Exports page by page, ordered by internal id, which never changes.

    Each note is consistent in itself. Notes that exist throughout are exported once; notes added or erased during the
    export may or may not be included. Unlike a backup, an export is not a snapshot.
    """

    archive: Archive
    decisions: DecisionStore
    notes: NoteStore
    privacy: PrivacyFilter

    async def __call__(self, caller: Caller) -> AsyncIterator[bytes]:
        """Yield the lines of an export, many at a time. Equal stores give equal bytes."""
        yield header()
        count = 0
        async for page in self.pages(caller):
            count += len(page)
            yield await asyncio.to_thread(_lines, page)
        async for decided in self._decisions(caller):
            yield b"".join(map(encode_decision, decided))
        yield end(count)

    async def _decisions(self, caller: Caller) -> AsyncIterator[list[Decision]]:
        """Yield pages of decisions about notes that the caller may see."""
        after: NotePair | None = None
        while page := await self.decisions.page(caller.tenant, after, PAGE):
            after = page[-1].pair
            notes = await self.notes.by_ids([note_id for one in page for note_id in (one.pair.newer, one.pair.older)])
            seen = {key for key, note in notes.items() if self.privacy.can_access(note, caller.principal)}
            yield [one for one in page if {one.pair.newer, one.pair.older} <= seen]

    async def pages(self, caller: Caller) -> AsyncIterator[list[ArchivedNote]]:
        """Yield pages of notes that the caller may see."""
        after: NoteId | None = None
        while page := await self.archive.page(caller.tenant, after, limit=PAGE, characters=PAGE_CHARACTERS):
            after = page[-1].note.note_id
            yield [one for one in page if self.privacy.can_access(one.note, caller.principal)]


def _lines(page: Sequence[ArchivedNote]) -> bytes:
    return b"".join(map(encode, page))
