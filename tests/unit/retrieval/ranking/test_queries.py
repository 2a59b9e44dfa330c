"""What each term of a question weighs, compared with the definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nur.retrieval.ranking.queries import (
    EXTRA_WEIGHT,
    FUNCTION_WORD_WEIGHT,
    MAX_MATCHES,
    NO_TERMS,
    USUAL_PIECES,
    QueryTerm,
    SimilarTerm,
    candidate_terms,
    query_terms,
    weigh,
)
from nur.retrieval.text.analysis import ANALYZER

PIECES = 1000
TEA, MILK, WHAT, TEA_AS_WRITTEN = 20, 40, 60, 21  #: odd ids are words as written
QUESTION = [
    QueryTerm(WHAT, "what", FUNCTION_WORD_WEIGHT),
    QueryTerm(TEA, "tea", 1.0),
    QueryTerm(TEA_AS_WRITTEN, "tea", EXTRA_WEIGHT),
    QueryTerm(MILK, "milk", 1.0),
]


def idf(containing: int) -> float:
    """Lucene's: ln(1 + (N - n + .5) / (n + .5))."""
    return math.log(1 + (PIECES - containing + 0.5) / (containing + 0.5))


def test_a_repeated_word_counts_once_and_a_function_word_less() -> None:
    terms = query_terms("What tea? Tea!", ANALYZER)
    main = {term.word: term.importance for term in terms if not term.id & 1}
    assert main == {"what": FUNCTION_WORD_WEIGHT, "tea": 1.0}
    assert len({term.id for term in terms}) == len(terms)


def test_a_word_as_written_adds_less_than_its_stem() -> None:
    terms = query_terms("walking", ANALYZER)
    assert {term.id & 1: term.importance for term in terms} == {0: 1.0, 1: EXTRA_WEIGHT}


def test_a_weight_is_importance_times_rarity() -> None:
    found = weigh(QUESTION, {TEA: 10, WHAT: 900}, PIECES)
    assert found.ids.tolist() == [WHAT, TEA, TEA_AS_WRITTEN, MILK]
    expected = [FUNCTION_WORD_WEIGHT * idf(900), idf(10), EXTRA_WEIGHT * idf(0), idf(0)]
    assert found.weights == pytest.approx(expected)
    assert found.total == pytest.approx(sum(expected))


def test_counts_that_are_newer_than_the_stores_size_weigh_no_less_than_nothing() -> None:
    weights = weigh([QueryTerm(TEA, "tea", 1.0)], {TEA: 7}, 5).weights
    assert weights == pytest.approx([math.log(1 + 0.5 / 7.5)])


@pytest.mark.parametrize(
    ("pieces_with_like", "factor"),
    [
        (10, 0.7),  # as rare as the question's word
        (2, 0.7),  # rarer: counts no more for that
        (500, 0.7 * idf(500) / idf(10)),  # more common: counts less
    ],
)
def test_a_similar_term_counts_by_its_similarity_and_less_where_it_is_more_common(
    pieces_with_like: int, factor: float
) -> None:
    counts = {TEA: 10, 80: pieces_with_like}
    (found,) = weigh(QUESTION, counts, PIECES, [SimilarTerm(TEA, 80, 0.7)]).expansions
    assert (found.column, found.id) == (1, 80)
    assert found.factor == pytest.approx(factor)


def test_no_terms_total_one_so_that_scores_can_be_divided_by_it() -> None:
    assert NO_TERMS.total == 1.0
    assert weigh([], {}, PIECES).weights == pytest.approx(np.zeros(0))


@pytest.mark.parametrize(
    ("terms", "pieces_with", "asked"),
    [
        (QUESTION, {TEA: 10, MILK: 3, WHAT: 1}, [MILK, TEA]),  # rarest first; no function word, no word as written
        (QUESTION, {TEA: MAX_MATCHES - 3, MILK: 3}, [MILK, TEA]),  # together just few enough
        (QUESTION, {TEA: MAX_MATCHES - 2, MILK: 3}, [MILK]),  # one too many
        (QUESTION, {TEA: 5 * MAX_MATCHES, MILK: 4 * MAX_MATCHES}, [MILK]),  # one is asked for in any case
        (QUESTION[:1], {WHAT: 900}, [WHAT]),  # nothing but function words
        (QUESTION, {TEA: 10}, [MILK, TEA]),  # a word that nobody wrote costs nothing
        ([], {}, []),
    ],
)
def test_the_rarest_content_words_find_candidates(
    terms: list[QueryTerm], pieces_with: dict[int, int], asked: list[int]
) -> None:
    assert candidate_terms(terms, pieces_with) == asked


def test_a_common_word_that_the_store_lacks_weighs_less_than_a_rare_one() -> None:
    question = [QueryTerm(TEA, "veux", 1.0), QueryTerm(MILK, "laminoir", 1.0)]
    usual = {"veux": 0.03}
    found = weigh(question, {}, PIECES, (), lambda word: usual.get(word, 0.0))
    pieces, containing = PIECES + USUAL_PIECES, 0.03 * USUAL_PIECES
    expected = [math.log(1 + (pieces - count + 0.5) / (count + 0.5)) for count in (containing, 0)]
    assert found.weights == pytest.approx(expected)
