"""Common words of other languages, as English words near them.

The packaged model knows English. A word of another language has a vector there too, but hardly one that means
something: "médecin" is near to "médicament" and not to "doctor". So the vectors that pieces and questions are compared
by are those of English words, where a table has them (`release/english_words.py` makes it). An answer in another
language than the question is found by them, and one in the same language by other words.
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
_WORD = regex.compile(r"[\p{L}\p{M}]{3,}")
_SPACE = regex.compile(r"\S\s+\S")


class EnglishTokens:
    """The packaged model's token vectors for texts of many languages. The table is read on first use."""

    def __init__(self, plain: PackagedTokens) -> None:
        self.plain = plain
        self._reading = Lock()

    @property
    def token_vectors(self) -> Floats:
        """One row a token, as trained: not of unit length."""
        return self.plain.token_vectors

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """The tokens of each text in English words. Takes its time: call it in a thread."""
        with self._reading:
            words = self._words
        return self.plain.tokenize([in_english(text, words) for text in texts])

    @cached_property
    def _words(self) -> Mapping[str, str]:
        return read_table()


def in_english(text: str, words: Mapping[str, str]) -> str:
    """The text with English words for those of other languages that are known. English text stays as it is.

    Of a single word nobody can tell the language: it is looked up.
    """
    if _SPACE.search(text) and is_english(text):
        return text
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    found: str = _WORD.sub(lambda match: words.get(match.group().casefold(), match.group()), text)
    return found


def read_table() -> Mapping[str, str]:
    """Words of other languages, casefolded, each with the English words near it."""
    lines = gzip.decompress(resources.files("nur.data").joinpath(TABLE).read_bytes()).decode().splitlines()
    return dict(line.split("\t", 1) for line in lines)
