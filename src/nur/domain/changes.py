"""Changes: the log of what happened to notes, in commit order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import NoteId


class ChangeKind(StrEnum):
    """What happened to a note."""

    CREATED = "created"
    REPLACED = "replaced"  #: its text changed
    EDITED = "edited"  #: its metadata changed, its text did not
    DELETED = "deleted"  #: moved to the trash
    RESTORED = "restored"  #: taken out of the trash
    PURGED = "purged"
    SUPERSEDED = "superseded"  #: a caller decided that another note replaces it
    REINSTATED = "reinstated"  #: a caller undid that decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one note."""

    position: int  #: grows with every change
    at: datetime  #: UTC
    kind: ChangeKind
    note_id: NoteId
    public_id: str | None  #: None: the note was purged, and its id would reveal its content
    version: int | None  #: text version after the change; None if unknown
    by: str  #: name of the principal
    other: NoteId | None = None  #: the note that supersedes this one
