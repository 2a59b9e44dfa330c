"""What an importer yields, and how it reads what most formats share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from nur.domain.archive import ArchivedNote, NewNote
from nur.domain.notes import MEMORY_TYPES, Kind, NoteMetadata
from nur.domain.urls import is_source_url
from nur.domain.writes import Protection

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Item:
    """A note, and where it was found."""

    place: str  #: a line, an entry or a file
    note: ArchivedNote | NewNote


@dataclass(frozen=True, slots=True)
class UnreadableItem:
    """Something that is no note, where it was found, and why."""

    place: str
    reason: str


def new_note(
    text: str,
    *,
    kind: Kind = Kind.MEMORY,
    sort: str | None = None,
    at: object = None,
    metadata: Mapping[str, Any] | None = None,
    **meta: Any,
) -> NewNote:
    """A note that another program wrote; a memory of a type that we do not have is a fact."""
    if kind is Kind.MEMORY and sort not in MEMORY_TYPES:
        sort = "fact"
    described = NoteMetadata(
        type=sort,
        occurred_at=moment(at),
        metadata={name: value for name, value in (metadata or {}).items() if value not in (None, "", [], {})},
        **meta,
    )
    return NewNote(kind=kind, text=text, meta=described, stated=Protection())


def moment(value: object) -> datetime | None:
    """A time as programs write it: ISO 8601, in UTC where no zone is named, or seconds since 1970; else None."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        if isinstance(value, datetime):
            return value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC)
        found = datetime.fromisoformat(str(value))
        return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def url(value: object) -> str | None:
    """An address that may be shown as a link; else None."""
    return value if isinstance(value, str) and is_source_url(value) else None
