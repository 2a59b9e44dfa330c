"""The times that the passages of hits name, counted from when each note was said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nur.domain.moments import day_of
from nur.retrieval.times.find import find_times

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from nur.domain.moments import Zone
    from nur.domain.search import Hit, Passage


def with_times(hits: Iterable[Hit], zone: Zone) -> list[Hit]:
    """The hits with the times that their passages name, as days on the calendar of `zone`."""
    return [
        replace(hit, passages=tuple(_read(passage, said) for passage in hit.passages))
        for hit in hits
        for said in (day_of(hit.note.said_at, zone),)
    ]


def _read(passage: Passage, said: date) -> Passage:
    start = passage.start_char
    mentions = find_times(passage.text, said)
    moved = (replace(one, start_char=start + one.start_char, end_char=start + one.end_char) for one in mentions)
    return replace(passage, times=tuple(moved))
