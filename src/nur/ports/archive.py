"""Archive: whole notes, for export, import and reading previous texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from nur.domain.access import WriteContext
    from nur.domain.archive import ArchivedNote, NoteVersion
    from nur.domain.notes import NoteId
    from nur.ports.notes import NoteWrite


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionSummary:
    """A previous text of a note, all but the text."""

    version: int
    content_hash: str
    title: str | None
    replaced_at: datetime
    characters: int


class Archive(Protocol):
    """Whole notes. Every method is one transaction."""

    async def page(self, tenant: str, after: NoteId | None, *, limit: int, characters: int) -> list[ArchivedNote]:
        """Notes of a tenant by internal id, active, expired and in the trash; each as it was at one moment.

        At most `limit`, and no more once their texts have so many characters together; empty at the end.
        """
        ...

    async def put(self, write: NoteWrite, versions: Sequence[NoteVersion], context: WriteContext) -> None:
        """Commit one note with exactly these previous texts. Raises Conflict, as `NoteStore.write` does."""
        ...

    async def versions(self, note_id: NoteId) -> list[VersionSummary]:
        """The previous texts that are kept, newest first."""
        ...

    async def version(self, note_id: NoteId, version: int) -> NoteVersion | None:
        """One previous text."""
        ...
