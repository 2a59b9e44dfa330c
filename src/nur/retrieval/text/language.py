"""Whether a text is English: models that know nothing else should not be asked about the rest as it is."""

from __future__ import annotations

import regex

from nur.retrieval.text.function_words import ENGLISH, FUNCTION_WORDS

_WORD = regex.compile(r"\p{L}+")
_OTHERS = frozenset(word for word in FUNCTION_WORDS - ENGLISH if len(word) > 1)  # single letters are in codes, too


def is_english(text: str) -> bool:
    """By its function words; a text without any is taken for English where it is plain ASCII."""
    words = _WORD.findall(text.casefold())
    english = sum(word in ENGLISH for word in words)
    others = sum(word in _OTHERS for word in words)
    return english > others or (english == others and text.isascii())
