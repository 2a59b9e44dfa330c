"""Notes in dictionaries, with the uniqueness that a database would see to."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nur.domain.errors import Conflict
from nur.domain.filters import NoteFilter
from nur.domain.matching import matches
from nur.domain.notes import Note, NoteId, Status
from nur.ports.ledger import VERSIONS_KEPT, Order, PageCursor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime


class InMemoryNotes:
    """Every note, active or in the trash, with its text and former texts."""

    def __init__(self) -> None:
        self.texts: dict[NoteId, str] = {}
        self.versions: dict[NoteId, dict[int, str]] = {}  #: former texts by version
        self._notes: dict[NoteId, Note] = {}
        self._by_public_id: dict[tuple[str, str], NoteId] = {}
        self._active: dict[tuple[str, str], NoteId] = {}  #: by identity

    def __iter__(self) -> Iterator[Note]:
        return iter(self._notes.values())

    def __getitem__(self, note_id: NoteId) -> Note:
        return self._notes[note_id]

    def among(self, note_ids: Sequence[NoteId]) -> dict[NoteId, Note]:
        """Those that are there."""
        return {note_id: self._notes[note_id] for note_id in note_ids if note_id in self._notes}

    def existing(self, note: Note, revision: int | None) -> Note | None:
        """The note that a write builds on, None for a new one. Raises Conflict when it is another by now."""
        existing = self._notes.get(note.note_id)
        if (existing.revision if existing else None) != revision:
            raise Conflict("The note was changed by another write; nothing was written. Try again.")
        return existing

    def put(self, note: Note) -> None:
        """Keep a note. Raises Conflict when its public id or, while it is active, its identity is another's."""
        public, name = (note.tenant, note.public_id), (note.tenant, note.identity)
        is_active = note.status is Status.ACTIVE
        taken = [self._by_public_id.get(public), self._active.get(name) if is_active else None]
        if any(other not in (None, note.note_id) for other in taken):
            raise Conflict("Another write came first; nothing was written. Try again.")
        former = self._notes.get(note.note_id)
        if former is not None:
            self._by_public_id.pop((former.tenant, former.public_id))
            self._active.pop((former.tenant, former.identity), None)
        self._by_public_id[public] = note.note_id
        if is_active:
            self._active[name] = note.note_id
        self._notes[note.note_id] = _as_stored(note)

    def drop(self, note: Note) -> None:
        """Forget a note and all its texts."""
        del self._notes[note.note_id]
        self._by_public_id.pop((note.tenant, note.public_id))
        if self._active.get((note.tenant, note.identity)) == note.note_id:
            del self._active[note.tenant, note.identity]
        self.texts.pop(note.note_id, None)
        self.versions.pop(note.note_id, None)

    def put_text(self, note: Note, former: Note | None, text: str) -> None:
        """Keep a note's text; the one it replaces becomes a former version."""
        if former is not None and former.version != note.version:
            kept = self.versions.setdefault(note.note_id, {})
            kept[former.version] = self.texts[note.note_id]
            self.versions[note.note_id] = {
                version: old for version, old in kept.items() if version >= note.version - VERSIONS_KEPT
            }
        self.texts[note.note_id] = text

    def by_public_id(self, tenant: str, public_id: str) -> Note | None:
        """A note by its public id, in the trash or not."""
        note_id = self._by_public_id.get((tenant, public_id))
        return None if note_id is None else self._notes[note_id]

    def by_identity(self, tenant: str, identity: str) -> Note | None:
        """The active note with this identity, else the one last deleted."""
        active = self._active.get((tenant, identity))
        if active is not None:
            return self._notes[active]
        trash = [note for note in self if (note.tenant, note.identity) == (tenant, identity)]
        return max(trash, key=lambda note: note.deleted_at or note.updated_at, default=None)

    def selected(self, where: NoteFilter, now: datetime) -> list[Note]:
        """The notes of a selection."""
        return [note for note in self if matches(note, where, now)]

    def page(
        self, where: NoteFilter, order: Order, limit: int, after: str | PageCursor | None, now: datetime
    ) -> list[Note]:
        """Active notes, in order, from behind `after` on."""

        def place(note: Note) -> tuple[Any, NoteId]:
            if order is Order.LAST_TURNS:
                return (-1 if note.meta.turn_index is None else note.meta.turn_index), note.note_id
            return note.ingested_at, note.note_id

        found = sorted(self.selected(where, now), key=place, reverse=True)
        if isinstance(after, PageCursor):
            found = [note for note in found if (note.ingested_at, note.note_id) < (after.ingested_at, after.note_id)]
        elif after is not None:
            last = self.by_public_id(where.tenant, after)
            found = [] if last is None else [note for note in found if place(note) < place(last)]
        return found[:limit]


def is_alive(note: Note, now: datetime) -> bool:
    """Neither in the trash nor expired."""
    return matches(note, NoteFilter(tenant=note.tenant), now)


def _as_stored(note: Note) -> Note:
    """As a database gives it back: with a time, and metadata that no caller holds."""
    metadata = json.loads(json.dumps(dict(note.meta.metadata)))
    occurred_at = note.meta.occurred_at or note.ingested_at
    return replace(note, meta=replace(note.meta, occurred_at=occurred_at, metadata=metadata))
