"""The vector of a question: rare words count more, and what is everywhere in a store less."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.ports.chunks import CorpusStatistics, TermFrequency
from nur.retrieval.ranking.similar_words import UNRANKED_TOKENS
from nur.retrieval.ranking.term_vectors import row_word
from nur.retrieval.text.analysis import ANALYZER, term_id
from nur.services.search.query_vector import (
    COMMON,
    EVERYWHERE,
    MIN_PIECES,
    PRIOR_TOKENS,
    QueryVector,
    general_shares,
    token_weights,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.domain.embedding import EmbeddingModel, Probe
    from nur.ports.embedder import Floats, TokenIds

PIECES = 1000
TERMS = 20_000
WORDS = ("tea", "aga", "what", "cup")


class Tokens:
    """One token per word, each in a dimension of its own; other words have none."""

    token_vectors: Floats = np.eye(UNRANKED_TOKENS + len(WORDS), dtype=np.float32)

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        return [np.array([UNRANKED_TOKENS + WORDS.index(text)] if text in WORDS else [], np.int64) for text in texts]


class Model:
    """Remembers what it is asked to embed."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @property
    def model(self) -> EmbeddingModel:
        raise NotImplementedError

    @property
    def max_tokens(self) -> int:
        raise NotImplementedError

    async def probe(self) -> Probe:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError

    async def embed_query(self, text: str) -> Floats:
        self.asked.append(text)
        return np.ones(2, np.float32)

    async def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        raise NotImplementedError


class StaticModel(Model, Tokens):
    """Embeds texts as means of tokens."""


class SentenceModel(Model):
    """Embeds pieces as it embeds chunks."""

    async def embed_pieces(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        raise NotImplementedError

    def similarity(self, vectors: Floats, question: Floats) -> Floats:
        raise NotImplementedError


def corpus(pieces: int = PIECES, **occurrences: int) -> CorpusStatistics:
    """A store in which each of these words occurs so often, once per piece."""
    counted = {
        row_word(term_id(term)): TermFrequency(count, count)
        for word, count in occurrences.items()
        for term in ANALYZER.terms(word)
        if not term.extra  # a word as written is not what is counted
    }
    return CorpusStatistics(pieces, pieces, TERMS, counted)


async def test_a_token_weighs_less_the_more_of_the_store_its_word_is() -> None:
    found = await QueryVector(Model(), Tokens(), Tokens()).for_pieces("tea aga", corpus(tea=5, aga=900))
    assert found is not None
    general = general_shares(len(Tokens.token_vectors), UNRANKED_TOKENS)[UNRANKED_TOKENS:]
    shares = [(count + PRIOR_TOKENS * general[at]) / (TERMS + PRIOR_TOKENS) for at, count in enumerate((5, 900))]
    weights = np.array([COMMON / (COMMON + share) for share in shares])
    assert found[UNRANKED_TOKENS : UNRANKED_TOKENS + 2] == pytest.approx(weights / np.linalg.norm(weights), rel=1e-4)
    assert np.linalg.norm(found) == pytest.approx(1.0)


def test_general_shares_fall_with_the_rank_and_sum_to_one() -> None:
    shares = general_shares(400, UNRANKED_TOKENS)
    assert shares.sum() == pytest.approx(1.0)
    assert len(set(shares[: UNRANKED_TOKENS + 1].tolist())) == 1  # bytes and marks are not ranked
    assert all(np.diff(shares[UNRANKED_TOKENS:]) < 0)
    assert shares[UNRANKED_TOKENS + 30] == pytest.approx(shares[UNRANKED_TOKENS] / 2)


def test_a_token_counts_half_at_the_common_share() -> None:
    stored = 1_000_000.0
    share = np.array([COMMON])
    occurrences = COMMON * (stored + PRIOR_TOKENS) - PRIOR_TOKENS * share
    assert token_weights(occurrences, stored, share) == pytest.approx([0.5])


@pytest.mark.parametrize("question", ["", "   ", "unknown"])
async def test_a_question_without_tokens_has_no_vector_for_pieces(question: str) -> None:
    assert await QueryVector(Model(), Tokens(), Tokens()).for_pieces(question, corpus()) is None


async def test_a_static_model_is_asked_only_where_there_is_nothing_to_weigh() -> None:
    model = StaticModel()
    ask = QueryVector(model, Tokens(), Tokens())
    assert np.linalg.norm(await ask("tea cup", corpus())) == pytest.approx(1.0)
    assert model.asked == []
    await ask("unknown", corpus())
    assert model.asked == ["unknown"]


@pytest.mark.parametrize(
    ("question", "stored", "asked"),
    [
        ("what did Aga drink", corpus(aga=round(EVERYWHERE * PIECES) + 1), "what did drink"),
        ("what did Aga drink", corpus(aga=round(EVERYWHERE * PIECES)), "what did Aga drink"),  # not quite everywhere
        ("what did Aga drink", corpus(what=900), "what did Aga drink"),  # a function word is not a content word
        ("Aga ?", corpus(aga=900), "?"),  # a mark is no word
        ("Aga", corpus(aga=900), "Aga"),  # nothing would be left
        ("Aga drinks", corpus(MIN_PIECES, aga=90), "drinks"),
        ("Aga drinks", corpus(MIN_PIECES - 1, aga=90), "Aga drinks"),  # too small a store to tell
    ],
)
async def test_a_sentence_model_is_not_asked_for_what_is_everywhere(
    question: str, stored: CorpusStatistics, asked: str
) -> None:
    model = SentenceModel()
    await QueryVector(model, Tokens(), Tokens())(question, stored)
    assert model.asked == [asked]


async def test_any_other_model_embeds_the_question_as_it_is() -> None:
    model = Model()
    await QueryVector(model, Tokens(), Tokens())("what did Aga drink", corpus(aga=900))
    assert model.asked == ["what did Aga drink"]


class EnglishTokens(Tokens):
    """The same tokens, with an English word for one of another language."""

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        return super().tokenize([{"tasse": "cup"}.get(text, text) for text in texts])


async def test_a_foreign_question_is_compared_with_chunks_in_english_words() -> None:
    found = await QueryVector(StaticModel(), Tokens(), EnglishTokens())("où est la tasse", corpus())
    assert found[UNRANKED_TOKENS + WORDS.index("cup")] == pytest.approx(1.0)


async def test_a_foreign_question_is_compared_with_pieces_in_english_words() -> None:
    found = await QueryVector(Model(), Tokens(), EnglishTokens()).for_pieces("où est la tasse", corpus())
    assert found is not None
    assert found[UNRANKED_TOKENS + WORDS.index("cup")] == pytest.approx(1.0)


async def test_an_english_question_keeps_its_words() -> None:
    ask = QueryVector(StaticModel(), Tokens(), EnglishTokens())
    question = "what is the tasse by the tea"
    assert (await ask(question, corpus()))[UNRANKED_TOKENS + WORDS.index("cup")] == 0.0
    assert await ask.for_pieces(question, corpus()) == pytest.approx(await ask(question, corpus()))
