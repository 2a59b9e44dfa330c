"""WordPiece tokens as BERT's uncased models define them: lower case, no accents, the longest known beginning first."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

import regex

_CLS, _SEP, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
_CONTINUES = "##"
LONGEST_WORD = 100
"""A longer word is unknown."""

# A word, or a single sign: punctuation, a symbol of ASCII, a Chinese character.
_WORDS = regex.compile(r"[\p{P}\p{Han}$+<=>^`|~]|[^\s\p{P}\p{Han}$+<=>^`|~]+")
_CONTROLS = regex.compile(r"[\p{Cc}\p{Cf}--[\t\n\r]]+|\uFFFD", regex.VERSION1)


@dataclass(frozen=True, slots=True)
class WordPieces:
    """A vocabulary; a token's id is its line."""

    ids: dict[str, int]
    _known: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def from_lines(cls, vocabulary: bytes) -> WordPieces:
        """Read a vocab.txt."""
        return cls({token: place for place, token in enumerate(vocabulary.decode("utf-8").splitlines())})

    def encode(self, text: str, most: int) -> list[int]:
        """The ids of at most so many tokens, marks for beginning and end among them."""
        found: list[int] = [self.ids[_CLS]]
        for word in _WORDS.findall(_plain(text)):
            found += self._pieces(word)
            if len(found) >= most - 1:
                break
        return [*found[: most - 1], self.ids[_SEP]]

    def _pieces(self, word: str) -> list[int]:
        pieces = self._known.get(word)
        if pieces is None:
            pieces = self._cut(word)
            if len(self._known) < len(self.ids):
                self._known[word] = pieces
        return pieces

    def _cut(self, word: str) -> list[int]:
        """The word's pieces, each the longest that is known; the mark for an unknown word when one is not."""
        unknown = [self.ids[_UNKNOWN]]
        if len(word) > LONGEST_WORD:
            return unknown
        found: list[int] = []
        start = 0
        while start < len(word):
            mark = _CONTINUES if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if mark + word[start:end] in self.ids), None)
            if end is None:
                return unknown
            found.append(self.ids[mark + word[start:end]])
            start = end
        return found


def _plain(text: str) -> str:
    """Lower case, without accents and control characters."""
    lower = str(_CONTROLS.sub("", text)).lower()
    if lower.isascii():
        return lower
    return "".join(sign for sign in unicodedata.normalize("NFD", lower) if unicodedata.category(sign) != "Mn")
