"""Embed a question for search; static models weigh its words by their rarity in this store.

A static model embeds a text as the plain mean of its tokens. In a question the common tokens dominate: "When did
Caroline go to the support group?" is mostly "when did Caroline go to the" if half the store is about Caroline. So a
question's token weighs ``a / (a + f)``, where f is its share of the stored text. Stored vectors stay plain means:
nothing is embedded again when f changes. LoCoMo, vectors alone: recall@10 .42 → .61.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from nur.ports.chunks import UNKNOWN
from nur.ports.embedder import PieceEmbedder, TokenTable
from nur.retrieval.ranking.queries import FUNCTION_WORD_WEIGHT
from nur.retrieval.ranking.similar_words import UNRANKED_TOKENS
from nur.retrieval.ranking.term_vectors import row_word
from nur.retrieval.text.analysis import ANALYZER, term_id
from nur.retrieval.text.function_words import ENGLISH, FUNCTION_WORDS, is_english

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nur.ports.chunks import CorpusStatistics
    from nur.ports.embedder import Embedder, Floats

COMMON = 0.001
"""Share of the stored text at which a token has weight one half."""

PRIOR_TOKENS = 5_000
"""Pseudo-count: tokens of general text added to the store's own. Shares in a new store are noise: of ten stored tokens,
each is a tenth."""


@lru_cache
def general_shares(vocabulary: int, special: int) -> NDArray[np.float64]:
    """Estimate each token's share of general text from its id.

    A byte-pair vocabulary is ordered by merges, most frequent first, so a token's id is roughly its rank, and Zipf's
    law gives the share. The first ``special`` ids are bytes and control tokens, without a rank.
    """
    ranks = np.maximum(np.arange(vocabulary) - special, 0)
    shares: NDArray[np.float64] = 1.0 / (ranks + 30.0)  # 30: even the first token has a few per cent at most
    shares /= shares.sum()
    return shares


def token_weights(occurrences: NDArray[np.float64], stored: float, general: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of a question's tokens, from how often their words occur among ``stored`` words and in general text."""
    shares = (occurrences + PRIOR_TOKENS * general) / (stored + PRIOR_TOKENS)
    weights: NDArray[np.float64] = COMMON / (COMMON + shares)
    return weights


#: Assumed share of the stored text for a word without terms, such as a question mark.
COMMONPLACE = 0.05
#: A content word in more than this share of the pieces is left out of the question for a sentence model, where it
#: would count as much as any other: in a chat of two people, their names (LoCoMo turns recall@10 .80 → .84).
EVERYWHERE = 0.08
MIN_PIECES = 100  #: with fewer pieces, the store's common words are unknown


@dataclass(frozen=True, slots=True)
class QueryVector:
    """Embeds questions."""

    embedder: Embedder
    token_table: TokenTable  #: the packaged model's
    foreign_table: TokenTable  #: the same with English words for those of other languages

    async def __call__(self, question: str, corpus: CorpusStatistics) -> Floats:
        """A unit vector to compare chunks with. Raises as `Embedder.embed_query` does."""
        if not isinstance(self.embedder, TokenTable):
            text = _without_commonplaces(question, corpus) if isinstance(self.embedder, PieceEmbedder) else question
            return await self.embedder.embed_query(text)
        weighted = await self.for_pieces(question, corpus)
        return await self.embedder.embed_query(question) if weighted is None else weighted

    async def for_pieces(self, question: str, corpus: CorpusStatistics) -> Floats | None:
        """A unit vector to compare pieces with; None for a question without tokens."""
        table = self.token_table if is_english(question) else self.foreign_table
        return await asyncio.to_thread(_weighted, question, table, corpus)


def _weighted(question: str, table: TokenTable, corpus: CorpusStatistics) -> Floats | None:
    """The weighted mean of the question's tokens, at unit length; None without tokens.

    A token's occurrences are those of its word, which the lexical index counts.
    """
    words = question.split()
    tokens = table.tokenize(words)
    counts = [_occurrences(word, corpus) for word in words]
    every = np.concatenate([*tokens, np.zeros(0, np.int64)])
    stored = np.repeat(np.array(counts, np.float64), [len(found) for found in tokens])
    if not every.size:
        return None
    general = general_shares(len(table.token_vectors), UNRANKED_TOKENS)
    importance = np.repeat(np.array([_importance(word) for word in words]), [len(found) for found in tokens])
    weights = importance * token_weights(stored, float(corpus.terms), general[every])
    return _unit(weights @ table.token_vectors[every])


def _unit(vector: Floats) -> Floats | None:
    """The vector at unit length; None for the zero vector."""
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length, np.float32) if length > 0 else None


def _without_commonplaces(question: str, corpus: CorpusStatistics) -> str:
    """The question without content words that are common in this store; the whole question if none would be left."""
    if corpus.pieces < MIN_PIECES:
        return question
    kept = [word for word in question.split() if not _is_commonplace(word, corpus)]
    return " ".join(kept) or question


def _is_commonplace(word: str, corpus: CorpusStatistics) -> bool:
    main = [term for term in ANALYZER.terms(word) if not term.extra]
    if not main or any(term.word in FUNCTION_WORDS for term in main):
        return False
    pieces = min(corpus.frequencies.get(row_word(term_id(term)), UNKNOWN).pieces for term in main)
    return pieces > EVERYWHERE * corpus.pieces


def _importance(word: str) -> float:
    """A word's weight apart from the store's statistics: lower for function words of other languages.

    English function words are common in an English store and in the model's vocabulary; others are rare there and
    would weigh too much.
    """
    words = {term.word for term in ANALYZER.terms(word)}
    return FUNCTION_WORD_WEIGHT if words and words <= FUNCTION_WORDS and not words & ENGLISH else 1.0


def _occurrences(word: str, corpus: CorpusStatistics) -> float:
    """How often the rarest part of a word occurs in everything stored."""
    main = [term for term in ANALYZER.terms(word) if not term.extra]
    if not main:
        return COMMONPLACE * corpus.terms
    return min(corpus.frequencies.get(row_word(term_id(term)), UNKNOWN).occurrences for term in main)
