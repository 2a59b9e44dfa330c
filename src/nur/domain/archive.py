"""Archived notes: a note with its text and history, as an export stores it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import Kind, Note, NoteMetadata
    from nur.domain.writes import Protection


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteVersion:
    """A previous text of a note."""

    version: int
    content_hash: str
    title: str | None
    replaced_at: datetime  #: UTC
    text: str


@dataclass(frozen=True, slots=True)
class ArchivedNote:
    """A note, active or in the trash, with its text and its previous texts, oldest first."""

    note: Note
    text: str
    versions: tuple[NoteVersion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNote:
    """A note to import from another program. It has no id or history yet."""

    kind: Kind
    text: str
    meta: NoteMetadata
    stated: Protection
