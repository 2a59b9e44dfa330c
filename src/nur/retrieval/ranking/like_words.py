"""Words like a question's words: near in meaning, or spelt nearly alike.

People ask in other words than they wrote. For each telling word of a question, the stored words like it count a little
less than the word itself: everyday hit@1 +.015 and recall@5 +.007, BEAM recall@10 +.011, documentation +.010, and
languages with many endings gain up to .007 nDCG@10 by the words that begin alike.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import regex

from nur.retrieval.pieces.vectors import mean_vectors
from nur.retrieval.ranking.queries import LikeTerm
from nur.retrieval.text.function_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nur.ports.chunks import StoredWord
    from nur.ports.embedder import Floats, TokenTable
    from nur.retrieval.ranking.queries import QueryTerm

LEAST_COSINE = 0.4
MOST_LIKE = 12
MEANING_WEIGHT = 0.8
"""Of the stored words, the 12 nearest count that have at least this cosine: from nothing there to .8 for the same
vector. A threshold of .55 and weights of .5 to 1: within .005 on every set."""

PREFIX = 5
LEAST_SHARED = 0.6
SPELLING_WEIGHT = 0.8
"""A word that shares its first five letters, and at least this part of the longer one, counts by that part."""

UNRANKED_TOKENS = 259
"""Bytes and marks at the head of a Llama vocabulary: their numbers are no ranks."""

MOST_KNOWN = 10_000  #: words of questions whose like words are remembered

_BUCKET = 4  #: letters that words are looked up by
_LATIN = regex.compile(r"\p{Latin}{3,}")


@dataclass(slots=True)
class LikeWords:
    """The words of a store, with their vectors."""

    ids: list[int] = field(default_factory=list)
    folded: list[str] = field(default_factory=list)  #: without accents
    vectors: list[Floats] = field(default_factory=list)  #: in blocks, as they were added
    by_beginning: dict[str, list[int]] = field(default_factory=dict)  #: places by the first letters
    _known: dict[str, list[LikeTerm]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, words: Sequence[StoredWord], table: TokenTable) -> None:
        """Take more words of the store."""
        if not words:
            return
        self.vectors = [np.concatenate([*self.vectors, mean_vectors([one.word for one in words], table)])]
        for one in words:
            folded = _folded(one.word)
            if len(folded) >= _BUCKET and folded.isalpha():
                self.by_beginning.setdefault(folded[:_BUCKET], []).append(len(self.ids))
            self.ids.append(one.term)
            self.folded.append(folded)
        self._known.clear()

    def like(self, terms: Iterable[QueryTerm], table: TokenTable) -> list[LikeTerm]:
        """The stored words like those of a question; function words and words as written have none."""
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        asked = [term for term in terms if not term.id & 1 and term.word not in FUNCTION_WORDS]
        new = [term for term in asked if term.word not in self._known] if self.ids else []
        for term, vector in zip(new, mean_vectors([term.word for term in new], table), strict=True):
            likeness = self._by_spelling(term.word)
            for place, near in self._by_meaning(vector) if _is_known(term.word, table) else ():
                likeness[place] = max(likeness.get(place, 0.0), near)
            self._known[term.word] = [
                LikeTerm(term.id, self.ids[place], value)
                for place, value in likeness.items()
                if self.ids[place] != term.id
            ]
        return [one for term in asked for one in self._known.get(term.word, ())]

    def _by_meaning(self, vector: Floats) -> list[tuple[int, float]]:
        cosines = self.vectors[0] @ vector
        near = np.flatnonzero(cosines >= LEAST_COSINE)
        if near.size > MOST_LIKE + 1:
            near = near[np.argpartition(-cosines[near], MOST_LIKE)[: MOST_LIKE + 1]]
        weights = MEANING_WEIGHT * (cosines[near] - LEAST_COSINE) / (1 - LEAST_COSINE)
        return list(zip(near.tolist(), weights.tolist(), strict=True))

    def _by_spelling(self, word: str) -> dict[int, float]:
        """Words that begin alike, by the share of letters in common; the same word without accents is the word."""
        folded = _folded(word)
        found: dict[int, float] = {}
        for place in self.by_beginning.get(folded[:_BUCKET], ()) if folded.isalpha() else ():
            other = self.folded[place]
            shared = _common_beginning(folded, other)
            share = shared / max(len(folded), len(other))
            if share == 1.0:
                found[place] = 1.0
            elif shared >= PREFIX and share >= LEAST_SHARED:
                found[place] = SPELLING_WEIGHT * share
        return found


def _is_known(word: str, table: TokenTable) -> bool:
    """Whether the model knows a word: it spells those of other scripts in bytes, unless it has English ones."""
    if _LATIN.fullmatch(word):
        return True
    (tokens,) = table.tokenize([word])
    return bool((tokens >= UNRANKED_TOKENS).all())


def _common_beginning(one: str, other: str) -> int:
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    return shared


def _folded(word: str) -> str:
    if word.isascii():
        return word
    return "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))
