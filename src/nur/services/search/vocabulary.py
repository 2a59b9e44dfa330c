"""The words of the store, kept in memory to find words like those of a question."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nur.retrieval.ranking.like_words import LikeWords

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.ports.chunks import ChunkStore, StoredWord
    from nur.ports.embedder import TokenTable
    from nur.retrieval.ranking.queries import LikeTerm, QueryTerm

#: Words kept, about 1 KB each. Common words come first, so a larger store lacks rare ones only.
MOST_WORDS = 30_000


@dataclass(slots=True)
class Vocabulary:
    """Reads new words of the store before each search; what it has read stays."""

    chunks: ChunkStore
    token_table: TokenTable
    _words: LikeWords = field(default_factory=LikeWords)
    _last: int = 0
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def like(self, terms: Sequence[QueryTerm]) -> list[LikeTerm]:
        """The stored words like those of a question."""
        async with self._reading:
            new = await self.chunks.words(self._last, MOST_WORDS - len(self._words))
            self._last = new[-1].key if new else self._last
            return await asyncio.to_thread(self._like, new, terms)

    def _like(self, new: Sequence[StoredWord], terms: Sequence[QueryTerm]) -> list[LikeTerm]:
        self._words.add(new, self.token_table)
        return self._words.like(terms, self.token_table)
