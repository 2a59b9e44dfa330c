"""How many values a JSON text holds, counted without parsing it: two million names cost gigabytes when parsed."""

from __future__ import annotations

import re

from nur.domain.errors import BadRequest

#: A note's metadata may hold some ten thousand. Parsing and checking that many takes a tenth of a second.
MOST_VALUES = 100_000
#: A body up to this many bytes is checked without yielding to other threads.
_WINDOW = 64 * 1024
_TOO_MANY = f"holds more than {MOST_VALUES} values"
_IN_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)


def check_values(body: bytes) -> None:
    """Count the values: every comma and bracket outside strings. Raises BadRequest."""
    if len(body) <= MOST_VALUES:
        return
    place, values, end = 0, 0, len(body)
    while place < end:
        quote = body.find(b'"', place, place + _WINDOW)
        outside = min(place + _WINDOW, end) if quote < 0 else quote
        values += sum(body.count(mark, place, outside) for mark in (b",", b"[", b"{"))
        if values > MOST_VALUES:
            raise BadRequest(_TOO_MANY)
        place = outside if quote < 0 else _end_of_string(body, quote + 1)


def _end_of_string(body: bytes, place: int) -> int:
    """Where the string that is open at `place` has ended; window by window, so that other threads run in between."""
    while place < len(body):
        found = _IN_STRING.match(body, place, place + _WINDOW)
        stop = found.end() if found else place
        if body[stop : stop + 1] == b'"':
            return stop + 1
        # At the end of the window, maybe before a backslash whose character lies behind it.
        place = stop if stop > place else stop + 2
    return place
