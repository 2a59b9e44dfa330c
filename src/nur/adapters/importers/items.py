"""What importers yield, and helpers that most of them need."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from nur.adapters.files.source import epoch, iso_time, utc
from nur.domain.archive import ArchivedNote, NewNote
from nur.domain.notes import MEMORY_TYPES, Kind, NoteMetadata
from nur.domain.urls import is_source_url
from nur.domain.writes import Protection

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Item:
    """A note and where it was found."""

    place: str  #: a line, an entry or a file
    note: ArchivedNote | NewNote


@dataclass(frozen=True, slots=True)
class UnreadableItem:
    """An entry that could not be read, where it was found, and why."""

    place: str
    reason: str


def new_note(
    text: str,
    *,
    kind: Kind = Kind.MEMORY,
    type_: str | None = None,
    at: object = None,
    metadata: Mapping[str, Any] | None = None,
    **meta: Any,
) -> NewNote:
    """A note from another program. A memory of an unknown type becomes a fact."""
    if kind is Kind.MEMORY and type_ not in MEMORY_TYPES:
        type_ = "fact"
    note_metadata = NoteMetadata(
        type=type_,
        occurred_at=moment(at),
        metadata={name: value for name, value in (metadata or {}).items() if value not in (None, "", [], {})},
        **meta,
    )
    return NewNote(kind=kind, text=text, meta=note_metadata, stated=Protection())


def moment(value: object) -> datetime | None:
    """Parse ISO 8601 (UTC is assumed without a zone) or seconds since 1970; None for anything else."""
    if isinstance(value, datetime):
        return utc(value)
    return epoch(value) if isinstance(value, int | float) else iso_time(str(value))


def url(value: object) -> str | None:
    """The value if it is a URL that may be shown as a link; else None."""
    return value if isinstance(value, str) and is_source_url(value) else None
