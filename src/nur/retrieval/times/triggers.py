"""Words of a text, to look for those without which no rule finds anything."""

from __future__ import annotations

import re

#: Marks become blanks: those of ASCII as bytes, the others before.
_BLANK_MARKS = bytes(code if chr(code).isalnum() or not chr(code).isascii() else ord(" ") for code in range(256))
_MARKS = re.compile(r"[\u2010-\u2027\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\xab\xbb\xbf\xa1\u060c\u061b\u061f\u0964]")


def split_words(low: str) -> list[bytes]:
    """The words of a text. As bytes: three times as fast as a pattern, and every text is looked through."""
    plain = low if low.isascii() else _MARKS.sub(" ", low)
    return plain.encode("utf-8", "surrogatepass").translate(_BLANK_MARKS).split()
