"""The words of the store, kept in memory to find words like those of a question."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from nur.retrieval.ranking.like_words import LikeWords
from nur.retrieval.ranking.term_vectors import row_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.ports.chunks import ChunkStore, CorpusStatistics, StoredWord
    from nur.ports.embedder import TokenTable
    from nur.retrieval.ranking.queries import LikeTerm, QueryTerm

#: Words kept, about 1 KB each. Common words come first, so a larger store lacks rare ones only.
MOST_WORDS = 30_000


@dataclass(slots=True)
class Vocabulary:
    """Reads new words of the store with the statistics of each search; what it has read stays."""

    chunks: ChunkStore
    token_table: TokenTable
    _words: LikeWords = field(default_factory=LikeWords)
    _known: set[int] = field(default_factory=set)  #: their terms
    _last: int = 0
    _reading: Lock = field(default_factory=Lock)

    async def look_up(self, terms: Sequence[QueryTerm]) -> tuple[list[LikeTerm], CorpusStatistics]:
        """The stored words like those of a question, and how common the words of both are."""
        like: list[LikeTerm] = []

        def expanded(new: Sequence[StoredWord]) -> list[str]:
            like[:] = self._like(new, terms)
            return [row_word(term) for term in (*(term.id for term in terms), *(one.id for one in like))]

        statistics = await self.chunks.look_up(self._last, MOST_WORDS - len(self._words), expanded)
        return like, statistics

    def _like(self, read: Sequence[StoredWord], terms: Sequence[QueryTerm]) -> list[LikeTerm]:
        with self._reading:
            new = [word for word in read if word.term not in self._known]  # some are read again
            self._last = max([self._last, *(word.key for word in read)])
            self._known.update(word.term for word in new)
            self._words.add(new, self.token_table)
            return self._words.like(terms, self.token_table)
