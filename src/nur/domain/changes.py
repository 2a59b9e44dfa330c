"""Changes: what happened to notes, in the order in which it was committed."""

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
    REPLACED = "replaced"  #: it has another text
    EDITED = "edited"  #: the same text, described differently
    DELETED = "deleted"  #: it is in the trash
    RESTORED = "restored"  #: it came back from the trash
    PURGED = "purged"
    SUPERSEDED = "superseded"  #: somebody decided that another note replaces it
    REINSTATED = "reinstated"  #: somebody took that back


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one note."""

    position: int  #: later changes have higher ones
    at: datetime  #: UTC
    kind: ChangeKind
    note_id: NoteId
    public_id: str | None  #: None: the note was purged, and its id would reveal what it was
    version: int | None  #: of the text after it; None where it is unknown
    by: str  #: the principal
    other: NoteId | None = None  #: the note that supersedes it
