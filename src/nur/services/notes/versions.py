"""A note's previous texts: list, read and restore them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.errors import NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.access import Caller
    from nur.domain.notes import Note
    from nur.domain.writes import Stored
    from nur.ports.archive import Archive
    from nur.services.notes.edit_note import EditNote
    from nur.services.notes.get_note import GetNote


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionView:
    """One text of a note, the current one or a previous one."""

    version: int
    current: bool
    title: str | None
    characters: int
    content_hash: str
    replaced_at: datetime | None  #: None: it is the current one
    text: str | None = None  #: if requested


@dataclass(frozen=True, slots=True)
class Versions:
    """Reads and restores previous texts of a note; the last twenty are kept."""

    archive: Archive
    get: GetNote
    edit: EditNote

    async def list(self, public_id: str, caller: Caller) -> list[VersionView]:
        """The current version and the previous ones, newest first, without texts. Raises NotFound."""
        note = await self.get(public_id, caller)
        previous = [
            VersionView(
                version=one.version,
                current=False,
                title=one.title,
                characters=one.characters,
                content_hash=one.content_hash,
                replaced_at=one.replaced_at,
            )
            for one in await self.archive.versions(note.note_id)
        ]
        return [replace(await self._current(note, caller), text=None), *previous]

    async def read(self, public_id: str, version: int, caller: Caller) -> VersionView:
        """One text. Raises NotFound."""
        note = await self.get(public_id, caller)
        if version == note.version:
            current = await self._current(note, caller)
            if current.version == version:  # it was not replaced meanwhile
                return current
        found = await self.archive.version(note.note_id, version)
        if found is None:
            raise NotFound(f"Version {version} of {public_id[:120]} is not kept. nur versions lists those that are.")
        return VersionView(
            version=version,
            current=False,
            title=found.title,
            characters=len(found.text),
            content_hash=found.content_hash,
            replaced_at=found.replaced_at,
            text=found.text,
        )

    async def restore(self, public_id: str, version: int, caller: Caller, *, revision: int | None = None) -> Stored:
        """Restore this text and its title as the note's newest version; the others stay.

        Raises NotFound, StaleRevision, Conflict, EmbedderDown, KeyRefused.
        """
        found = await self.read(public_id, version, caller)

        def restored(note: Note) -> tuple[Note, str | None]:
            return replace(note, meta=replace(note.meta, title=found.title)), found.text

        return await self.edit.apply(public_id, restored, caller, revision)

    async def _current(self, note: Note, caller: Caller) -> VersionView:
        note, text = await self.get.with_text(note, caller)
        return VersionView(
            version=note.version,
            current=True,
            title=note.meta.title,
            characters=len(text),
            content_hash=note.content_hash,
            replaced_at=None,
            text=text,
        )
