"""What a file holds once it is read: texts with their structure, and what the file says about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

#: Of one text, as everywhere in the store.
MOST_CHARACTERS = 10_000_000
#: Places that a note keeps: a longer list would be read with every search that finds the note.
MOST_PLACES = 2_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page, slide or sheet begins in a document's text."""

    start_char: int
    label: str  #: such as "page 3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One text of a file: the file itself, a message of a mailbox, a conversation of an export."""

    text: str
    type: str = "doc"  #: an artifact type
    title: str | None = None
    author: str | None = None
    participants: tuple[str, ...] = ()
    occurred_at: datetime | None = None  #: UTC
    url: str | None = None
    part: str = ""  #: tells it from the file's other documents; "" for the file itself
    source_system: str | None = None  #: together with `source_id`: it is the same document in whatever file it comes
    source_id: str | None = None
    places: tuple[Place, ...] = ()  #: in order
    metadata: Mapping[str, object] = field(default_factory=dict)


def location(metadata: Mapping[str, object], start_char: int, end_char: int) -> str | None:
    """Where a passage of a note stands, such as "page 3" or "page 3 to page 4"; None where the note has no places."""
    places = metadata.get("places")
    if not isinstance(places, list | tuple):
        return None
    first, last = _place_at(places, start_char), _place_at(places, max(start_char, end_char - 1))
    return first if first == last else " to ".join(filter(None, (first, last)))


def _place_at(places: Sequence[object], position: int) -> str | None:
    """The label of the last place that begins at or before a position; what a client put there instead is ignored."""
    found = None
    for place in places:
        if not isinstance(place, list | tuple) or len(place) != 2 or not isinstance(place[0], int):
            return None
        if place[0] > position:
            break
        found = str(place[1])
    return found
