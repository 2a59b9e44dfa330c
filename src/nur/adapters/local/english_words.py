"""Replaces common words of other languages by English words, for the packaged model.

The model knows English. Words of other languages have vectors that mean little: "médecin" is near "médicament", not
near "doctor". So pieces and questions are compared by the vectors of English words, if a table has them
(`release/english_words.py` makes it). That finds answers in another language than the question's, and answers in the
same language that use other words.
"""

from __future__ import annotations

import gzip
import unicodedata
from functools import cached_property
from importlib import resources
from threading import Lock
from typing import TYPE_CHECKING

import regex

from nur.retrieval.text.function_words import is_english

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.adapters.local.embedder import PackagedTokens
    from nur.ports.embedder import Floats, TokenIds

TABLE = "english_words.tsv.gz"
WORD = regex.compile(r"[\p{L}\p{M}]{3,}|[\p{Devanagari}\p{Arabic}\p{M}]{2}")
"""What is looked up. Words of scripts that do not write every vowel may have two letters."""

_SPACE = regex.compile(r"\S\s+\S")


class EnglishTokens:
    """The packaged model's token vectors for texts of many languages. The table is read on first use."""

    def __init__(self, plain: PackagedTokens) -> None:
        self.plain = plain
        self._reading = Lock()

    @property
    def token_vectors(self) -> Floats:
        """One row per token, as trained: not of unit length."""
        return self.plain.token_vectors

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """The tokens of each text in English words. Slow: call it in a thread."""
        with self._reading:
            words = self._words
        return self.plain.tokenize([in_english(text, words) for text in texts])

    @cached_property
    def _words(self) -> Mapping[str, str]:
        return read_table()


def in_english(text: str, words: Mapping[str, str]) -> str:
    """Replace known words of other languages by English ones; English text stays unchanged.

    A single word is always looked up: its language cannot be detected.
    """
    if _SPACE.search(text) and is_english(text):
        return text
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    found: str = WORD.sub(lambda match: words.get(match.group().casefold(), match.group()), text)
    return found


def read_table() -> Mapping[str, str]:
    """Words of other languages, casefolded, each with the English words near it."""
    lines = gzip.decompress(resources.files("nur.data").joinpath(TABLE).read_bytes()).decode().splitlines()
    table: dict[str, str] = {}
    shared: dict[str, str] = {}  # many words have the same English words: each is kept once
    for line in lines:
        word, near = line.split("\t", 1)
        table[word] = shared.setdefault(near, near)
    return table
