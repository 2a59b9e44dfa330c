"""Lexical rows in a dictionary, scored with the BM25 that FTS5 uses."""

from __future__ import annotations

from collections import Counter
from math import log
from typing import TYPE_CHECKING

from nur.ports.ledger import TermFrequency

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nur.domain.notes import ChunkKey

#: FTS5's own constants: how fast repetition stops helping, and how much length counts.
_K1 = 1.2
_B = 0.75
#: What FTS5 gives a term that stands in half of all rows or more, so that it still ranks above nothing.
_LEAST_IDF = 1e-6


class InMemoryLexicon:
    """Finds chunks by their terms by looking at all of them."""

    def __init__(self) -> None:
        self._rows: dict[ChunkKey, Counter[str]] = {}

    def add(self, key: ChunkKey, terms: str) -> None:
        """Keep a chunk's lexical row: terms with spaces between."""
        self._rows[key] = Counter(terms.split())

    def remove(self, key: ChunkKey) -> None:
        """Forget a chunk's lexical row."""
        del self._rows[key]

    def frequencies(self, terms: Iterable[str]) -> dict[str, TermFrequency]:
        """How common each term is; unknown terms are left out."""
        holding = {term: [row[term] for row in self._rows.values() if term in row] for term in terms}
        return {term: TermFrequency(len(times), sum(times)) for term, times in holding.items() if times}

    def scores(self, terms: Iterable[str]) -> dict[ChunkKey, float]:
        """BM25 of each chunk that holds any of the terms."""
        frequency = {term: found.chunks for term, found in self.frequencies(terms).items()}
        chunks = len(self._rows)
        weights = {t: max(log((chunks - n + 0.5) / (n + 0.5)), _LEAST_IDF) for t, n in frequency.items()}
        average = sum(row.total() for row in self._rows.values()) / max(chunks, 1)
        return {
            key: sum(_saturated(row[t], row.total() / average) * weight for t, weight in weights.items() if t in row)
            for key, row in self._rows.items()
            if not weights.keys().isdisjoint(row)
        }


def _saturated(times: int, relative_length: float) -> float:
    return times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * relative_length))
