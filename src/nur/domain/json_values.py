"""Limits the number of values in a JSON text before it is parsed: parsing two million names takes gigabytes."""

from __future__ import annotations

import re

from nur.domain.errors import BadRequest

#: A note's metadata may hold about ten thousand. Parsing and checking this many takes 0.1 s.
MAX_VALUES = 100_000
#: Bytes scanned per call into C code, during which no other thread runs.
_WINDOW = 64 * 1024
_TOO_MANY = f"holds more than {MAX_VALUES} values"
_IN_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)


def check_values(body: bytes) -> None:
    """Count every comma and opening bracket outside strings. Raises BadRequest above MAX_VALUES."""
    if len(body) <= MAX_VALUES:
        return
    position, values, end = 0, 0, len(body)
    while position < end:
        quote = body.find(b'"', position, position + _WINDOW)
        stop = min(position + _WINDOW, end) if quote < 0 else quote
        values += sum(body.count(mark, position, stop) for mark in (b",", b"[", b"{"))
        if values > MAX_VALUES:
            raise BadRequest(_TOO_MANY)
        position = stop if quote < 0 else _end_of_string(body, quote + 1)


def _end_of_string(body: bytes, position: int) -> int:
    """Return the offset after the string that is open at `position`; scans by windows so that other threads can run."""
    while position < len(body):
        match = _IN_STRING.match(body, position, position + _WINDOW)
        stop = match.end() if match else position
        if body[stop : stop + 1] == b'"':
            return stop + 1
        # The window ended, possibly between a backslash and the character it escapes.
        position = stop if stop > position else stop + 2
    return position
