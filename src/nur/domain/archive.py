"""Archived notes: a note with everything that makes it up, as an export carries it."""

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
    """A note that another program wrote: it gets its id and its history here."""

    kind: Kind
    text: str
    meta: NoteMetadata
    stated: Protection
