"""Detect English text, because some models understand nothing else."""

from __future__ import annotations

import regex

from nur.retrieval.text.function_words import ENGLISH, FUNCTION_WORDS

_WORD = regex.compile(r"\p{L}+")
_OTHERS = frozenset(word for word in FUNCTION_WORDS - ENGLISH if len(word) > 1)  # single letters also occur in codes


def is_english(text: str) -> bool:
    """Whether most function words of a text are English; if as many are not, whether it is plain ASCII."""
    words = _WORD.findall(text.casefold())
    english = sum(word in ENGLISH for word in words)
    others = sum(word in _OTHERS for word in words)
    return english > others or (english == others and text.isascii())
