"""The vector to search with: a static embedder's questions weigh their tokens by how telling they are here."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from nur.ports.embedder import TokenTable
from nur.retrieval.query_vectors import general_shares, token_weights

if TYPE_CHECKING:
    from nur.ports.embedder import Embedder, Floats
    from nur.ports.ledger import Corpus, Ledger

#: The counts are read again when the store has grown or shrunk by this share: weights move by less than that.
STALE_SHARE = 0.02
#: Bytes and marks at the head of a Llama vocabulary: their numbers are no ranks.
UNRANKED_TOKENS = 259


@dataclass(slots=True)
class QueryVector:
    """Embeds questions."""

    ledger: Ledger
    embedder: Embedder
    _counts: np.ndarray[tuple[int], np.dtype[np.float64]] | None = None
    _counted_at: int = 0
    _general: np.ndarray[tuple[int], np.dtype[np.float64]] = field(default_factory=lambda: np.zeros(0))

    async def __call__(self, question: str, corpus: Corpus) -> Floats:
        """A unit vector. Raises as `Embedder.embed_query` does."""
        if not isinstance(self.embedder, TokenTable):
            return await self.embedder.embed_query(question)
        table: TokenTable = self.embedder
        if self._counts is None or abs(corpus.terms - self._counted_at) > STALE_SHARE * self._counted_at:
            await self._count(table, corpus.terms)
        found = await asyncio.to_thread(self._weighted, question, table)
        return await self.embedder.embed_query(question) if found is None else found

    async def _count(self, table: TokenTable, terms: int) -> None:
        stored = await self.ledger.token_counts()
        size = len(await asyncio.to_thread(lambda: table.token_vectors))
        counts = np.zeros(size)
        counts[list(stored)] = list(stored.values())
        self._general = general_shares(size, UNRANKED_TOKENS)
        self._counts, self._counted_at = counts, terms

    def _weighted(self, question: str, table: TokenTable) -> Floats | None:
        """The weighted mean of the question's tokens; None when there is nothing to weigh."""
        tokens = table.tokenize([question])[0]
        if self._counts is None or not tokens.size:
            return None
        weights = token_weights(tokens, self._counts, self._general)
        total = weights @ table.token_vectors[tokens]
        length = float(np.linalg.norm(total))
        return np.asarray(total / length, np.float32) if length > 0 else None
