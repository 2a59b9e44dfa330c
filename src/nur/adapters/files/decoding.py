"""Bytes as text: the mark at the beginning, then UTF-8, then what Windows and older systems wrote."""

from __future__ import annotations

import codecs

# Longer marks first: the one of UTF-32 begins with the one of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEAD = 4096


def decode(data: bytes, declared: str | None = None) -> str:
    """The text, its lines ended by line feeds. Never fails: what no encoding explains becomes U+FFFD."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _lines(data.decode(encoding, "replace"))
    guesses = (_known(declared), _without_mark(data), "utf-8", "cp1252", "latin-1")
    for guess in filter(None, guesses):
        try:
            return _lines(data.decode(guess))
        except UnicodeDecodeError:
            continue
    return _lines(data.decode("utf-8", "replace"))


def _known(declared: str | None) -> str | None:
    """An encoding that this program knows; others are ignored."""
    try:
        return codecs.lookup(declared).name if declared else None
    except LookupError:
        return None


def _without_mark(data: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of its Latin letters is zero."""
    head = data[:_HEAD]
    if b"\0" not in head:
        return None
    return "utf-16-be" if head[::2].count(0) > head[1::2].count(0) else "utf-16-le"


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def clean(text: str) -> str:
    """Without what the store does not take: NUL characters, and lone surrogates, which JSON can smuggle in."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
