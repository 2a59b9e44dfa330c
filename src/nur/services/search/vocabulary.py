"""The words of the store, kept in memory to find words similar to those of a question."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from nur.retrieval.ranking.similar_words import SimilarWords
from nur.retrieval.ranking.term_vectors import row_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.ports.chunks import ChunkStore, CorpusStatistics, StoredWord
    from nur.ports.embedder import TokenTable
    from nur.retrieval.ranking.queries import QueryTerm, SimilarTerm

#: Words kept, about 1 KB each. Common words come first, so a larger store lacks rare ones only.
MOST_WORDS = 30_000


@dataclass(slots=True)
class Vocabulary:
    """Holds the words of the store; each search adds those stored since the last one."""

    chunks: ChunkStore
    token_table: TokenTable
    _words: SimilarWords = field(default_factory=SimilarWords)
    _known: set[int] = field(default_factory=set)  #: ids of the terms read
    _last: int = 0
    _reading: Lock = field(default_factory=Lock)

    async def look_up(self, terms: Sequence[QueryTerm]) -> tuple[list[SimilarTerm], CorpusStatistics]:
        """The stored words similar to those of a question, and how common the words of both are."""
        similar: list[SimilarTerm] = []

        def expanded(new: Sequence[StoredWord]) -> list[str]:
            similar[:] = self._add_and_compare(new, terms)
            return [row_word(term) for term in (*(term.id for term in terms), *(one.id for one in similar))]

        statistics = await self.chunks.look_up(self._last, MOST_WORDS - len(self._words), expanded)
        return similar, statistics

    def _add_and_compare(self, read: Sequence[StoredWord], terms: Sequence[QueryTerm]) -> list[SimilarTerm]:
        with self._reading:
            new = [word for word in read if word.term not in self._known]  # some are read again
            self._last = max([self._last, *(word.key for word in read)])
            self._known.update(word.term for word in new)
            self._words.add(new, self.token_table)
            return self._words.similar_to(terms, self.token_table)
