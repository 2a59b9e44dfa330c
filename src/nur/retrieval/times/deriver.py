"""The deriver of times: what a note's text names, counted from when it was said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.derivations import Deriver, TimeRow
from nur.domain.moments import day_of
from nur.retrieval.times.find import find_times

if TYPE_CHECKING:
    from nur.domain.moments import Zone
    from nur.domain.notes import Note

VERSION = 2


def times_deriver(zone: Zone) -> Deriver:
    """Times as days on the calendar of `zone`."""

    def rows(note: Note, text: str) -> list[TimeRow]:
        return [
            TimeRow(one.start_char, one.end_char, one.window.first.toordinal(), one.window.end.toordinal())
            for one in find_times(text, day_of(note.said_at, zone))
        ]

    return Deriver("note_times", VERSION, rows)
