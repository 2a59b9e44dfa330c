"""Scores of atoms, compared with their definition written plainly, one atom and one word at a time."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from nur.retrieval.passages.atoms import Atoms
from nur.retrieval.passages.extract import (
    ENOUGH_WORDS,
    K1,
    OWN_CONTEXT,
    OWN_WEIGHT,
    PIECE_WEIGHT,
    PIECE_WEIGHT_WITHOUT_WORDS,
    WIDE_CONTEXT,
    WIDE_WEIGHT,
    B,
    piece_weight,
    score,
)
from nur.retrieval.ranking.queries import WeightedTerms

TERMS = WeightedTerms(np.array([1, 2, 3, 4], np.uint32), np.array([1.0, 0.3, 1.0, 1.0]), np.array([2.0, 0.1, 1.0, 3.0]))


def some_atoms(seed: int, number: int = 40) -> Atoms:
    """Atoms of two notes in three runs; the last term is in none of them."""
    rng = np.random.default_rng(seed)
    counts = (rng.integers(0, 5, (number, 4)) - 2).clip(0).astype(float)
    counts[:, 3] = 0
    lengths = rng.integers(10, 80, number)
    runs = np.repeat([0, 1, 2], [5, 3, number - 8])
    return Atoms(
        notes=np.repeat([0, 1], [8, number - 8]),
        starts=np.cumsum(lengths) - lengths,
        ends=np.cumsum(lengths),
        runs=runs,
        piece_scores=rng.random(number),
        words=rng.integers(2, 30, number).astype(float),
        counts=counts,
    )


def share(atoms: Atoms, at: int, context: tuple[float, ...], weights: list[float], total: float) -> float:
    """What the atom and those around it match of the question, BM25F."""
    near = {other: ([1.0, *context][abs(other - at)]) for other in range(len(atoms)) if abs(other - at) <= len(context)}
    near = {other: weight for other, weight in near.items() if atoms.runs[other] == atoms.runs[at]}
    words = sum(weight * atoms.words[other] for other, weight in near.items())
    norm = K1 * (1 - B + B * words / (atoms.words.mean() * sum(near.values())))
    found = 0.0
    for term, weight in enumerate(weights):
        count = sum(share * atoms.counts[other, term] for other, share in near.items())
        found += weight * count / (count + norm)
    return found / total


@pytest.mark.parametrize("by_piece", [0.0, PIECE_WEIGHT, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_an_atoms_score_is_what_it_its_surroundings_and_its_piece_match(seed: int, by_piece: float) -> None:
    atoms = some_atoms(seed)
    found = score(atoms, TERMS, by_piece)
    containing = [(atoms.counts[:, term] > 0).sum() for term in range(4)]
    local = [
        float(importance) * log(1 + (len(atoms) - number + 0.5) / (number + 0.5)) if number else 0.0
        for importance, number in zip(TERMS.importance, containing, strict=True)
    ]
    for at in range(len(atoms)):
        own = share(atoms, at, OWN_CONTEXT, local, sum(local))
        wide = share(atoms, at, WIDE_CONTEXT, TERMS.weights.tolist(), TERMS.total)
        expected = OWN_WEIGHT * own + WIDE_WEIGHT * wide + by_piece * atoms.piece_scores[at]
        assert found[at] == pytest.approx(expected)


def test_context_counts_less_the_farther_it_is_and_ends() -> None:
    assert OWN_CONTEXT == (0.3, 0.2, 0.1)
    assert len(WIDE_CONTEXT) == 24
    assert (WIDE_CONTEXT[0], WIDE_CONTEXT[-1]) == pytest.approx((24 / 25, 1 / 25))


def test_atoms_without_any_word_of_the_question_are_scored_by_their_pieces() -> None:
    atoms = some_atoms(1)
    atoms.counts[:] = 0
    assert score(atoms, TERMS) == pytest.approx(PIECE_WEIGHT * atoms.piece_scores)


@pytest.mark.parametrize(
    ("best_lexical", "cosine_weight", "expected"),
    [
        (0.0, 1.0, PIECE_WEIGHT + PIECE_WEIGHT_WITHOUT_WORDS),  # no word is found, and the model knows sentences
        (ENOUGH_WORDS / 2, 1.0, PIECE_WEIGHT + PIECE_WEIGHT_WITHOUT_WORDS / 2),
        (ENOUGH_WORDS, 1.0, PIECE_WEIGHT),  # words say enough
        (0.9, 1.0, PIECE_WEIGHT),
        (0.0, 0.5, PIECE_WEIGHT + PIECE_WEIGHT_WITHOUT_WORDS / 2),  # a model that was not measured
        (0.0, 10.0, PIECE_WEIGHT + PIECE_WEIGHT_WITHOUT_WORDS),  # never more than a measured one
        (0.0, 0.0, PIECE_WEIGHT),  # the packaged model: its vectors say what words say
    ],
)
def test_a_pieces_score_counts_more_where_words_say_little_and_the_model_knows_sentences(
    best_lexical: float, cosine_weight: float, expected: float
) -> None:
    assert piece_weight(best_lexical, cosine_weight) == pytest.approx(expected)
