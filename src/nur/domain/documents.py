"""Documents: the texts read from a file, with their metadata and page positions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

#: Maximum number of places stored with a note; every search that finds the note reads them.
MAX_PLACES = 2_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page, slide or sheet begins in a document's text."""

    start_char: int
    label: str  #: such as "page 3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One text from a file: the whole file, one message of a mailbox, or one conversation of an export."""

    text: str
    type: str = "doc"  #: an artifact type
    title: str | None = None
    author: str | None = None
    participants: tuple[str, ...] = ()
    occurred_at: datetime | None = None  #: UTC
    url: str | None = None
    part: str = ""  #: distinguishes it from the file's other documents; "" for the whole file
    source_system: str | None = None  #: with `source_id`, identifies the document whichever file it is read from
    source_id: str | None = None
    places: tuple[Place, ...] = ()  #: in text order
    metadata: Mapping[str, object] = field(default_factory=dict)


def location(metadata: Mapping[str, object], start_char: int, end_char: int) -> str | None:
    """Return where a passage is, such as "page 3" or "page 3 to page 4"; None if the note has no places."""
    places = metadata.get("places")
    if not isinstance(places, list | tuple):
        return None
    first, last = _place_at(places, start_char), _place_at(places, max(start_char, end_char - 1))
    return first if first == last else " to ".join(filter(None, (first, last)))


def _place_at(places: Sequence[object], position: int) -> str | None:
    """Return the label of the last place at or before a position; None if a client stored malformed places."""
    label = None
    for place in places:
        if not isinstance(place, list | tuple) or len(place) != 2 or not isinstance(place[0], int):
            return None
        if place[0] > position:
            break
        label = str(place[1])
    return label
