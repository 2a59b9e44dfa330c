"""How well a piece answers a question: one number on a fixed scale, the same for every kind of note.

    score = share of the question's weight that its words match  +  0.5 · cosine

mixed, for a chunk of several pieces, with the same sum over the whole chunk. Only how telling each word is depends on
what else is stored: lengths are compared with a fixed one, not with the store's average. So a sentence in a long
document, a one-line memory and a turn compete on equal terms, and the same text and question always have the same
score in the same store.

Ranks (reciprocal rank fusion) throw that away: on LoCoMo they lose 3 points of recall@10, in languages that the
vectors do not know up to .24 nDCG, and they cannot say "nothing here answers".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.retrieval.pieces.vectors import cosines, weighted_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from nur.domain.notes import ChunkKey
    from nur.ports.embedder import Floats
    from nur.retrieval.pieces.stored import PieceTable
    from nur.retrieval.ranking.queries import WeighedTerms


K1 = 1.2
"""How soon more occurrences of a word stop counting. .6 and .8: everyday recall@5 −.02."""

B = 0.3
"""What length costs a piece. Pieces are of like length, so it matters little: 0 loses .02 hit@1 on everyday, and .5
nothing."""

REFERENCE_WORDS = 45.0
"""The length that costs nothing: that of a piece of 300 characters."""

CONTEXT_COUNT = 0.4
"""What a word counts that stands in the piece's title, heading or table header. .6: everyday recall@5 −.007."""

WHOLE_WEIGHT = 0.4
"""What the whole chunk says, beside the piece. 0: BEAM recall@10 −.04; .6: everyday recall@5 −.01."""

WHOLE_B = 0.75
"""What length costs a whole chunk, which is long: with .4 BEAM loses .03 recall@10."""

RRF_K = 60

_LOW_BITS = 0xFFFF

IN_WINDOW = 0.10
"""Bonus for what was said in the stretch of time that the question names, or speaks of it."""

DATED = 0.06
"""Bonus for what names a time, where the question asks when."""


@dataclass(frozen=True, slots=True)
class PieceScores:
    """What is known of each piece of a pool."""

    scores: NDArray[np.float64]
    lexical: NDArray[np.float64]  #: share of the question's weight that its words match, 0 to 1
    cosines: NDArray[np.float64]  #: of its own vector
    matched: NDArray[np.float64]  #: one row per piece, one column per term: how well it matches, 0 to 1
    weights: NDArray[np.float64]  #: of the terms; they sum to 1


@dataclass(frozen=True, slots=True)
class Meaning:
    """What is compared by meaning."""

    vectors: Floats  #: of the pieces, at unit length
    question: Floats | None  #: None: nothing is compared
    weight: float
    by_model: NDArray[np.float64]  #: what the store's own model adds to each piece's score
    whole_by_model: NDArray[np.float64]  #: what it adds to the score of each piece's chunk
    dilution: float  #: what the score of a whole chunk of several pieces lacks


def score_pieces(
    table: PieceTable,
    titles: Sequence[NDArray[np.uint32]],
    is_turn: NDArray[np.bool_],
    terms: WeighedTerms,
    meaning: Meaning,
) -> PieceScores:
    """Score every piece; `titles` are the terms of each chunk's title, `is_turn` says which chunks are turns."""
    counts = _counts(table, titles, terms)
    weights = terms.weights / terms.total
    matched = _saturated(counts, table.words, B)
    _add_expansions(matched, table, terms)
    lexical = matched @ weights
    cosines = _cosines(meaning)
    own = lexical + meaning.weight * cosines + meaning.by_model
    whole = _whole_scores(table, counts, weights, meaning, is_turn)
    return PieceScores((1 - WHOLE_WEIGHT) * own + WHOLE_WEIGHT * whole, lexical, cosines, matched, weights)


def _cosines(meaning: Meaning) -> NDArray[np.float64]:
    if meaning.question is None:
        return np.zeros(len(meaning.vectors))
    return cosines(meaning.vectors, meaning.question).astype(np.float64)


def _counts(table: PieceTable, titles: Sequence[NDArray[np.uint32]], terms: WeighedTerms) -> NDArray[np.float64]:
    """How often each piece has each term; what its context has counts a little."""
    size = (len(table), terms.ids.size)
    counts = np.zeros(size)
    beside = np.zeros(size, bool)
    at, columns = find_ids(table.ids, terms.ids)
    counts[_owners(table.term_counts)[at], columns] = table.counts[at]
    at, columns = find_ids(table.context_ids, terms.ids)
    beside[_owners(table.context_counts)[at], columns] = True
    beside |= _in_titles(titles, terms)[table.chunks]
    return counts + CONTEXT_COUNT * beside


def _in_titles(titles: Sequence[NDArray[np.uint32]], terms: WeighedTerms) -> NDArray[np.bool_]:
    found = np.zeros((len(titles), terms.ids.size), bool)
    at, columns = find_ids(np.concatenate([np.zeros(0, np.uint32), *titles]), terms.ids)
    found[_owners(np.array([title.size for title in titles], np.int64))[at], columns] = True
    return found


def _owners(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whose each entry is, when so many entries of each stand one after the other."""
    return np.repeat(np.arange(sizes.size), sizes)


def find_ids(stored: NDArray[np.uint32], asked: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where stored ids are among those asked for: their places, and the place of each among the asked ones."""
    if not asked.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    likely = np.zeros(_LOW_BITS + 1, bool)
    likely[asked & _LOW_BITS] = True
    at = np.flatnonzero(likely[stored & _LOW_BITS])  # all but a few: looking each up would take five times as long
    order = np.argsort(asked)
    columns = order[np.minimum(np.searchsorted(asked[order], stored[at]), asked.size - 1)]
    same = asked[columns] == stored[at]
    return at[same], columns[same]


def _saturated(counts: NDArray[np.float64], words: NDArray[np.float64], b: float) -> NDArray[np.float64]:
    norm = K1 * (1 - b + b * words / REFERENCE_WORDS)
    saturated: NDArray[np.float64] = counts / (counts + norm[:, None])
    return saturated


def _add_expansions(matched: NDArray[np.float64], table: PieceTable, terms: WeighedTerms) -> None:
    """A word like the question's counts where the piece does not have the word itself, or has it less."""
    if not terms.expansions:
        return
    ids = np.unique([one.id for one in terms.expansions]).astype(np.uint32)
    at, places = find_ids(table.ids, ids)
    rows = _owners(table.term_counts)[at]
    strength = _saturated(table.counts[at].astype(np.float64)[:, None], table.words[rows], B)[:, 0]
    order = np.argsort(places, kind="stable")
    edges = np.searchsorted(places[order], np.arange(ids.size + 1))
    place_of = {int(term): place for place, term in enumerate(ids.tolist())}
    for one in terms.expansions:
        place = place_of[one.id]
        own = order[edges[place] : edges[place + 1]]
        there = rows[own], one.column
        matched[there] = np.maximum(matched[there], one.factor * strength[own])


def _whole_scores(
    table: PieceTable,
    counts: NDArray[np.float64],
    weights: NDArray[np.float64],
    meaning: Meaning,
    is_turn: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """For each piece, the score of its chunk: all words together, and the mean of the vectors.

    A chunk of one piece is that piece: it must not lose by its length what a piece does not.
    """
    if not len(table):
        return np.zeros(0)
    first = np.flatnonzero(np.diff(table.chunks, prepend=-1))
    of_piece = np.cumsum(np.diff(table.chunks, prepend=table.chunks[0]) != 0)
    words = np.add.reduceat(table.words, first)
    single = np.diff(np.append(first, len(table))) == 1
    b = np.where(single, B, WHOLE_B)
    norm = K1 * (1 - b + b * words / REFERENCE_WORDS)
    totals = np.add.reduceat(counts, first, axis=0)
    scores = (totals / (totals + norm[:, None])) @ weights
    if meaning.question is not None:
        vectors = weighted_mean(meaning.vectors, table.characters, first)
        scores = scores + meaning.weight * cosines(vectors, meaning.question)
    diluted = np.where(single | is_turn[table.chunks[first]], 0.0, meaning.dilution)  # turns compete with each other
    whole: NDArray[np.float64] = (scores + diluted + meaning.whole_by_model[first])[of_piece]
    return whole


def reciprocal_ranks(rankings: Sequence[tuple[float, Sequence[int]]]) -> Mapping[int, float]:
    """Weighted reciprocal rank fusion, ``Σ w / (60 + rank)``, rank from 1: the alternative to absolute scores.

    Each ranking is its weight and its keys, best first. A key that a ranking lacks gains nothing from it.
    """
    fused: dict[int, float] = {}
    for weight, keys in rankings:
        for rank, key in enumerate(keys, start=1):
            fused[key] = fused.get(key, 0.0) + weight / (RRF_K + rank)
    return fused


def time_bonuses(in_window: AbstractSet[ChunkKey], dated: AbstractSet[ChunkKey]) -> Mapping[ChunkKey, float]:
    """What is added to the score of each of these."""
    return {key: IN_WINDOW * (key in in_window) + DATED * (key in dated) for key in in_window | dated}
