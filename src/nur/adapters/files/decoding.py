"""Bytes as text: the mark at the beginning, then UTF-8, then what Windows and older systems wrote."""

from __future__ import annotations

import codecs

from nur.domain.file_formats import HEAD_BYTES, utf16_without_mark

# Longer marks first: the one of UTF-32 begins with the one of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes, declared: str | None = None) -> str:
    """The text, its lines ended by line feeds. Never fails: what no encoding explains becomes U+FFFD."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _lines(data.decode(encoding, "replace"))
    head = data[:HEAD_BYTES]
    guesses = (_known(declared), utf16_without_mark(head) if b"\0" in head else None, "utf-8", "cp1252", "latin-1")
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


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def clean(text: str) -> str:
    """Without what the store does not take: NUL characters, and lone surrogates, which JSON can smuggle in."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
