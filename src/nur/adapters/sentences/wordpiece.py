"""The WordPiece tokenizer of BERT's uncased models: lower case, no accents, longest known prefix first."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

import regex

_CLS, _SEP, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
_CONTINUES = "##"
MAX_WORD_CHARACTERS = 100
"""Longer words become the unknown token."""

# A word, or a single character: punctuation, an ASCII symbol, a Chinese character.
_WORDS = regex.compile(r"[\p{P}\p{Han}$+<=>^`|~]|[^\s\p{P}\p{Han}$+<=>^`|~]+")
_CONTROLS = regex.compile(r"[\p{Cc}\p{Cf}--[\t\n\r]]+|\uFFFD", regex.VERSION1)


@dataclass(frozen=True, slots=True)
class WordPieces:
    """A vocabulary: a token's id is its line number, from 0."""

    ids: dict[str, int]
    _cache: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def from_lines(cls, vocabulary: bytes) -> WordPieces:
        """Parse a vocab.txt."""
        return cls({token: number for number, token in enumerate(vocabulary.decode("utf-8").splitlines())})

    def encode(self, text: str, most: int) -> list[int]:
        """Token ids of the text, at most `most` including [CLS] and [SEP]."""
        ids: list[int] = [self.ids[_CLS]]
        for word in _WORDS.findall(_plain(text)):
            ids += self._pieces(word)
            if len(ids) >= most - 1:
                break
        return [*ids[: most - 1], self.ids[_SEP]]

    def _pieces(self, word: str) -> list[int]:
        pieces = self._cache.get(word)
        if pieces is None:
            pieces = self._cut(word)
            if len(self._cache) < len(self.ids):
                self._cache[word] = pieces
        return pieces

    def _cut(self, word: str) -> list[int]:
        """Ids of the word's pieces, longest known piece first; the unknown token if any part is unknown."""
        unknown = [self.ids[_UNKNOWN]]
        if len(word) > MAX_WORD_CHARACTERS:
            return unknown
        ids: list[int] = []
        start = 0
        while start < len(word):
            mark = _CONTINUES if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if mark + word[start:end] in self.ids), None)
            if end is None:
                return unknown
            ids.append(self.ids[mark + word[start:end]])
            start = end
        return ids


def _plain(text: str) -> str:
    """Lower case, without accents and control characters."""
    lower = str(_CONTROLS.sub("", text)).lower()
    if lower.isascii():
        return lower
    return "".join(char for char in unicodedata.normalize("NFD", lower) if unicodedata.category(char) != "Mn")
