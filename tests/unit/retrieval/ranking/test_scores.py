"""Scores of pieces, compared with their definition written plainly, one piece and one word at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nur.retrieval.pieces.stored import PieceTable
from nur.retrieval.ranking.queries import NO_TERMS, Expansion, WeightedTerms
from nur.retrieval.ranking.scores import (
    CONTEXT_COUNT,
    FULL_DILUTION_PIECES,
    HEADING_BONUS,
    K1,
    REFERENCE_WORDS,
    WHOLE_B,
    WHOLE_WEIGHT,
    B,
    Meaning,
    find_ids,
    heading_bonuses,
    reciprocal_ranks,
    score_pieces,
)

ASKED = [10, 75_546, 30]  #: the second differs from 10 in its high bits only: 75_546 = 10 + 65_536 + 10_000
TITLES = [np.array([30], np.uint32), np.array([], np.uint32), np.array([10, 7], np.uint32)]
IS_TURN = np.array([False, False, True])


class Pool:
    """Random pieces of three chunks, as dictionaries and as the arrays of a table."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.chunks = [0, 0, 1, 2, 2, 2]
        ids = [7, 8, *ASKED]
        self.counts = [{one: int(rng.integers(1, 4)) for one in ids if rng.random() < 0.6} for _ in self.chunks]
        self.context = [{one for one in ids if rng.random() < 0.3} for _ in self.chunks]
        self.words = rng.integers(5, 120, len(self.chunks)).astype(float)
        lengths = rng.integers(20, 400, len(self.chunks))
        ends = np.cumsum(lengths)
        self.table = PieceTable(
            chunks=np.array(self.chunks),
            starts=ends - lengths,
            ends=ends,
            words=self.words,
            term_counts=np.array([len(one) for one in self.counts]),
            context_counts=np.array([len(one) for one in self.context]),
            ids=np.array([term for one in self.counts for term in one], np.uint32),
            counts=np.array([count for one in self.counts for count in one.values()], np.uint8),
            context_ids=np.array([term for one in self.context for term in sorted(one)], np.uint32),
        )
        vectors = rng.normal(size=(len(self.chunks), 4)).astype(np.float32)
        self.vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        question = rng.normal(size=4).astype(np.float32)
        self.meaning = Meaning(
            vectors=self.vectors,
            question=question / np.linalg.norm(question),
            weight=0.5,
            by_model=rng.random(len(self.chunks)),
            whole_by_model=rng.random(3)[self.chunks],
            dilution=-0.07,
        )

    def count(self, piece: int, term: int) -> float:
        """How often a piece has a term, with what its heading and its chunk's title add."""
        is_beside = term in self.context[piece] or term in TITLES[self.chunks[piece]]
        return self.counts[piece].get(term, 0) + (CONTEXT_COUNT if is_beside else 0.0)


def saturated(count: float, words: float, b: float) -> float:
    return count / (count + K1 * (1 - b + b * words / REFERENCE_WORDS))


def the_terms(*expansions: Expansion) -> WeightedTerms:
    return WeightedTerms(np.array(ASKED, np.uint32), np.ones(3), np.array([1.0, 2.0, 5.0]), expansions)


@pytest.mark.parametrize("seed", range(6))
def test_a_pieces_score_is_that_of_its_words_and_its_vector_mixed_with_its_chunks(seed: int) -> None:
    pool, terms = Pool(seed), the_terms()
    meaning = pool.meaning
    assert meaning.question is not None
    found = score_pieces(pool.table, TITLES, IS_TURN, terms, meaning)
    assert found.weights == pytest.approx([0.125, 0.25, 0.625])
    for piece, chunk in enumerate(pool.chunks):
        siblings = [one for one, other in enumerate(pool.chunks) if other == chunk]
        matched = [saturated(pool.count(piece, term), pool.words[piece], B) for term in ASKED]
        assert found.matched[piece] == pytest.approx(matched)
        lexical = sum(weight * one for weight, one in zip(found.weights, matched, strict=True))
        assert found.lexical[piece] == pytest.approx(lexical)
        cosine = float(pool.vectors[piece] @ meaning.question)
        assert found.cosines[piece] == pytest.approx(cosine, abs=1e-6)
        own = lexical + 0.5 * cosine + meaning.by_model[piece]
        b = B if len(siblings) == 1 else WHOLE_B
        words = sum(pool.words[one] for one in siblings)
        whole = sum(
            weight * saturated(sum(pool.count(one, term) for one in siblings), words, b)
            for weight, term in zip(found.weights, ASKED, strict=True)
        )
        mean = sum(pool.table.characters[one] * pool.vectors[one] for one in siblings)
        whole += 0.5 * float(mean @ meaning.question) / float(np.linalg.norm(mean)) + meaning.whole_by_model[piece]
        share = float(np.log(len(siblings)) / np.log(FULL_DILUTION_PIECES))
        whole += 0.0 if IS_TURN[chunk] else -0.07 * share
        assert found.scores[piece] == pytest.approx((1 - WHOLE_WEIGHT) * own + WHOLE_WEIGHT * whole, abs=1e-6)


@pytest.mark.parametrize(
    ("pieces", "share"),
    [
        (1, 0.0),  # the chunk is its piece
        (2, 0.28),  # a paragraph or two: most of it may well answer
        (6, 0.72),
        (12, 1.0),
        (40, 1.0),  # as much as twelve: a chunk does not gain by being long
    ],
)
def test_dilution_grows_with_the_number_of_pieces(pieces: int, share: float) -> None:
    none, one_each = np.zeros(pieces, np.int64), np.arange(pieces)
    table = PieceTable(
        chunks=none,
        starts=one_each,
        ends=one_each + 1,
        words=np.ones(pieces),
        term_counts=none,
        context_counts=none,
        ids=np.zeros(0, np.uint32),
        counts=np.zeros(0, np.uint8),
        context_ids=np.zeros(0, np.uint32),
    )
    meaning = Meaning(np.zeros((pieces, 4), np.float32), None, 0.5, np.zeros(pieces), np.zeros(pieces), dilution=0.05)
    for is_turn, expected in ((False, 0.05 * WHOLE_WEIGHT * share), (True, 0.0)):
        found = score_pieces(table, [np.zeros(0, np.uint32)], np.array([is_turn]), the_terms(), meaning)
        assert found.scores == pytest.approx([expected] * pieces, abs=1e-4)


def test_a_heading_that_the_question_repeats_is_a_bonus_and_less_so_the_longer_the_note() -> None:
    """Ids are even for main terms and odd for extra ones, which do not count."""
    terms = WeightedTerms(np.array([10, 11, 20, 30], np.uint32), np.ones(4), np.ones(4))
    titles = [np.array(ids, np.uint32) for ids in ([10, 11, 20, 30], [10, 11, 50], [50, 60], [], [10, 20], [10, 20])]
    found = heading_bonuses(titles, [1, 1, 1, 1, 3, 6], terms)
    assert found == pytest.approx(HEADING_BONUS * np.array([3 / 4, 1 / 3, 0, 0, 2 / 3, 1 / 3]))
    assert not heading_bonuses(titles, [1] * 6, NO_TERMS).any()


@pytest.mark.parametrize("seed", range(4))
def test_a_word_like_the_questions_counts_where_the_word_itself_counts_less(seed: int) -> None:
    pool = Pool(seed)
    plain = score_pieces(pool.table, TITLES, IS_TURN, the_terms(), pool.meaning)
    expansions = (Expansion(0, 7, 0.5), Expansion(2, 8, 0.9))
    found = score_pieces(pool.table, TITLES, IS_TURN, the_terms(*expansions), pool.meaning)
    expected = plain.matched.copy()
    for piece in range(len(pool.chunks)):
        for one in expansions:
            like = one.factor * saturated(pool.counts[piece].get(one.id, 0), pool.words[piece], B)
            expected[piece, one.column] = max(expected[piece, one.column], like)
    assert found.matched == pytest.approx(expected)
    assert found.lexical == pytest.approx(expected @ found.weights)


def test_without_a_questions_vector_words_alone_count() -> None:
    pool = Pool(1)
    found = score_pieces(pool.table, TITLES, IS_TURN, the_terms(), replace(pool.meaning, question=None))
    assert not found.cosines.any()
    own = found.lexical + pool.meaning.by_model
    assert found.scores[2] == pytest.approx(0.6 * own[2] + 0.4 * (found.lexical[2] + pool.meaning.whole_by_model[2]))


def test_a_question_without_words_and_a_pool_without_pieces_score_nothing() -> None:
    pool = Pool(2)
    assert not score_pieces(pool.table, TITLES, IS_TURN, NO_TERMS, pool.meaning).lexical.any()
    none = np.zeros(0, np.int64)
    empty = PieceTable(
        none, none, none, np.zeros(0), none, none, np.zeros(0, np.uint32), np.zeros(0, np.uint8), np.zeros(0, np.uint32)
    )
    nothing = Meaning(np.zeros((0, 4), np.float32), None, 0.5, np.zeros(0), np.zeros(0), 0.0)
    assert score_pieces(empty, [], np.zeros(0, bool), the_terms(), nothing).scores.size == 0


def test_ids_that_share_their_low_bits_are_told_apart() -> None:
    stored = np.array([5 + 65_536, 5, 9, 4], np.uint32)
    places, columns = find_ids(stored, np.array([9, 5], np.uint32))
    assert (places.tolist(), columns.tolist()) == ([1, 2], [1, 0])


def test_reciprocal_ranks_add_up_by_weight() -> None:
    fused = reciprocal_ranks([(1.0, [1, 2]), (2.0, [2])])
    assert fused == pytest.approx({1: 1 / 61, 2: 1 / 62 + 2 / 61})
