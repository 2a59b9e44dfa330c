"""Archive: whole notes with their history, for export, import and reading previous texts."""

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
    """A previous version of a note, without its text."""

    version: int
    content_hash: str
    title: str | None
    replaced_at: datetime
    characters: int


class Archive(Protocol):
    """Whole notes. Every method is one transaction."""

    async def page(self, tenant: str, after: NoteId | None, *, limit: int, characters: int) -> list[ArchivedNote]:
        """Return a tenant's notes after an internal id, ordered by it: active, expired and in the trash.

        At most `limit` notes; the page also ends once their texts reach `characters` in all. Empty at the end.
        Each note is consistent in itself.
        """
        ...

    async def put(self, write: NoteWrite, versions: Sequence[NoteVersion], context: WriteContext) -> None:
        """Commit one note with exactly these previous texts. Raises Conflict, as `NoteStore.write` does."""
        ...

    async def versions(self, note_id: NoteId) -> list[VersionSummary]:
        """Return the stored previous versions, newest first."""
        ...

    async def version(self, note_id: NoteId, version: int) -> NoteVersion | None:
        """Return one previous version; None if it is not stored."""
        ...
