"""Score pieces against a question: one number on a fixed scale, the same for every kind of note.

    score = share of the question's term weight that the piece matches  +  0.5 · cosine

A piece of a longer chunk mixes in the same sum over the whole chunk. A note whose heading the question repeats gains.
Lengths are compared with a fixed reference, not with the store's average; only the rarity of each term depends on what
else is stored. So a sentence in a long document, a one-line memory and a turn compete on equal terms, and in an
unchanged store a text always gets the same score for the same question.

Reciprocal rank fusion loses these properties. Measured: −.03 recall@10 on LoCoMo, up to −.24 nDCG in languages that
the vectors do not cover; and ranks cannot express "nothing here answers".
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
    from nur.retrieval.ranking.queries import WeightedTerms


K1 = 1.2
"""BM25's term frequency saturation. .6 and .8: everyday recall@5 −.02."""

B = 0.3
"""BM25's length penalty, for pieces. They are of similar length, so it matters little: 0 loses .02 hit@1 on everyday,
.5 loses nothing."""

REFERENCE_WORDS = 45.0
"""Length in words that is not penalised: that of a piece of 300 characters."""

CONTEXT_COUNT = 0.4
"""Term count added for a word in the piece's title, heading or table header. .6: everyday recall@5 −.007."""

WHOLE_WEIGHT = 0.4
"""Weight of the whole chunk's score against the piece's own. 0: BEAM recall@10 −.04; .6: everyday recall@5 −.01."""

WHOLE_B = 0.75
"""BM25's length penalty for whole chunks, which are long. .4: BEAM recall@10 −.03."""

FULL_DILUTION_PIECES = 12
"""Pieces from which a chunk's dilution counts in full. Measured: a whole chunk scores less than its best piece by .011
with two pieces, .025 with four, .033 with six and .054 with twelve, about as the logarithm of their number. In full for
two or more pieces, paragraphs of an encyclopaedia outrank memories (everyday with three other sets: recall@5 −.014)."""

HEADING_BONUS = 0.15
"""Bonus of a note whose heading the question repeats: "Creating test cases" for "how do I create test cases?". Without
it product documentation loses .01 recall@10 and .02 nDCG@10; .1 to .25: within .01."""

FULL_HEADING_CHUNKS = 3
"""Chunks up to which a note's heading counts in full, and less in a longer one: a book's first line is not about its
end."""

RRF_K = 60

_LOW_BITS = 0xFFFF

IN_WINDOW = 0.10
"""Bonus for what was said in, or mentions, the period that the question names."""

DATED = 0.06
"""Bonus for what mentions a time, where the question asks when."""


@dataclass(frozen=True, slots=True)
class PieceScores:
    """The scores of all pieces, and what they are made of."""

    scores: NDArray[np.float64]
    lexical: NDArray[np.float64]  #: share of the question's term weight that the piece matches, 0 to 1
    cosines: NDArray[np.float64]  #: of the piece's own vector with the question's
    matched: NDArray[np.float64]  #: one row per piece, one column per term: how well it matches, 0 to 1
    weights: NDArray[np.float64]  #: of the terms; they sum to 1


@dataclass(frozen=True, slots=True)
class Meaning:
    """Inputs of the semantic part of the score."""

    vectors: Floats  #: of the pieces, at unit length
    question: Floats | None  #: the question's vector; None: no cosines
    weight: float  #: of the cosine
    by_model: NDArray[np.float64]  #: what the store's own model adds to each piece's score
    whole_by_model: NDArray[np.float64]  #: what it adds to the score of each piece's chunk
    dilution: float  #: added to the score of a chunk of many pieces, because most of it does not answer


def score_pieces(
    table: PieceTable,
    titles: Sequence[NDArray[np.uint32]],
    is_turn: NDArray[np.bool_],
    terms: WeightedTerms,
    meaning: Meaning,
) -> PieceScores:
    """Score every piece; `titles` holds the title terms of each chunk, `is_turn` whether each chunk is a turn."""
    counts = _counts(table, titles, terms)
    weights = terms.weights / terms.total
    matched = _saturated(counts, table.words, B)
    _add_expansions(matched, table, terms)
    lexical = matched @ weights
    cosines = _cosines(meaning)
    piece_scores = lexical + meaning.weight * cosines + meaning.by_model
    chunk_scores = _whole_scores(table, counts, weights, meaning, is_turn)
    scores = (1 - WHOLE_WEIGHT) * piece_scores + WHOLE_WEIGHT * chunk_scores
    return PieceScores(scores, lexical, cosines, matched, weights)


def _cosines(meaning: Meaning) -> NDArray[np.float64]:
    if meaning.question is None:
        return np.zeros(len(meaning.vectors))
    return cosines(meaning.vectors, meaning.question).astype(np.float64)


def _counts(table: PieceTable, titles: Sequence[NDArray[np.uint32]], terms: WeightedTerms) -> NDArray[np.float64]:
    """Occurrences of each term (column) in each piece (row); one in its context adds CONTEXT_COUNT."""
    shape = (len(table), terms.ids.size)
    counts = np.zeros(shape)
    in_context = np.zeros(shape, bool)
    entries, columns = find_ids(table.ids, terms.ids)
    counts[_owners(table.term_counts)[entries], columns] = table.counts[entries]
    entries, columns = find_ids(table.context_ids, terms.ids)
    in_context[_owners(table.context_counts)[entries], columns] = True
    in_context |= _in_titles(titles, terms)[table.chunks]
    return counts + CONTEXT_COUNT * in_context


def _in_titles(titles: Sequence[NDArray[np.uint32]], terms: WeightedTerms) -> NDArray[np.bool_]:
    """Whether each title (row) contains each term (column)."""
    contains = np.zeros((len(titles), terms.ids.size), bool)
    entries, columns = find_ids(np.concatenate([np.zeros(0, np.uint32), *titles]), terms.ids)
    contains[_owners(np.array([title.size for title in titles], np.int64))[entries], columns] = True
    return contains


def heading_bonuses(
    titles: Sequence[NDArray[np.uint32]], chunk_counts: Sequence[int], terms: WeightedTerms
) -> NDArray[np.float64]:
    """Each chunk's bonus for the words of its note's heading that the question has.

    The share is that of a heading with one more word: a single word is little evidence.
    """
    asked = _in_titles(titles, terms)[:, _is_main(terms.ids)].sum(axis=1)
    words = np.array([_is_main(title).sum() for title in titles], np.int64)
    length = np.minimum(1.0, FULL_HEADING_CHUNKS / np.maximum(1, np.array(chunk_counts)))
    bonuses: NDArray[np.float64] = HEADING_BONUS * asked / (words + 1) * length
    return bonuses


def _is_main(ids: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Whether each term is a main one (a stem), not an extra one (a surface form)."""
    is_main: NDArray[np.bool_] = ids & 1 == 0
    return is_main


def _owners(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Owner index of each entry, given how many consecutive entries each owner has."""
    return np.repeat(np.arange(sizes.size), sizes)


def find_ids(stored: NDArray[np.uint32], wanted: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions in `stored` whose id is wanted, and the position of each such id in `wanted`."""
    if not wanted.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    low_bits = np.zeros(_LOW_BITS + 1, bool)
    low_bits[wanted & _LOW_BITS] = True
    at = np.flatnonzero(low_bits[stored & _LOW_BITS])  # rules out nearly all: a binary search for each is 5 × slower
    order = np.argsort(wanted)
    columns = order[np.minimum(np.searchsorted(wanted[order], stored[at]), wanted.size - 1)]
    is_wanted = wanted[columns] == stored[at]
    return at[is_wanted], columns[is_wanted]


def _saturated(counts: NDArray[np.float64], words: NDArray[np.float64], b: float) -> NDArray[np.float64]:
    """BM25's term frequencies, 0 to 1, of texts with these lengths in words (one row each)."""
    norm = K1 * (1 - b + b * words / REFERENCE_WORDS)
    saturated: NDArray[np.float64] = counts / (counts + norm[:, None])
    return saturated


def _add_expansions(matched: NDArray[np.float64], table: PieceTable, terms: WeightedTerms) -> None:
    """Raise matches, in place, where a word similar to the question's matches better than the word itself."""
    if not terms.expansions:
        return
    ids = np.unique([one.id for one in terms.expansions]).astype(np.uint32)
    entries, columns = find_ids(table.ids, ids)
    rows = _owners(table.term_counts)[entries]
    strength = _saturated(table.counts[entries].astype(np.float64)[:, None], table.words[rows], B)[:, 0]
    order = np.argsort(columns, kind="stable")
    edges = np.searchsorted(columns[order], np.arange(ids.size + 1))
    column_of = {int(term): column for column, term in enumerate(ids.tolist())}
    for expansion in terms.expansions:
        column = column_of[expansion.id]
        occurrences = order[edges[column] : edges[column + 1]]
        cells = rows[occurrences], expansion.column
        matched[cells] = np.maximum(matched[cells], expansion.factor * strength[occurrences])


def _whole_scores(
    table: PieceTable,
    counts: NDArray[np.float64],
    weights: NDArray[np.float64],
    meaning: Meaning,
    is_turn: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """For each piece, the score of its whole chunk: all its words together, and the mean of its vectors.

    A chunk of one piece is scored like that piece, with a piece's length penalty.
    """
    if not len(table):
        return np.zeros(0)
    first = np.flatnonzero(np.diff(table.chunks, prepend=-1))
    chunk_of_piece = np.cumsum(np.diff(table.chunks, prepend=table.chunks[0]) != 0)
    words = np.add.reduceat(table.words, first)
    pieces = np.diff(np.append(first, len(table)))
    b = np.where(pieces == 1, B, WHOLE_B)
    norm = K1 * (1 - b + b * words / REFERENCE_WORDS)
    totals = np.add.reduceat(counts, first, axis=0)
    scores = (totals / (totals + norm[:, None])) @ weights
    if meaning.question is not None:
        vectors = weighted_mean(meaning.vectors, table.characters, first)
        scores = scores + meaning.weight * cosines(vectors, meaning.question)
    share = np.minimum(1.0, np.log(pieces) / np.log(FULL_DILUTION_PIECES))
    dilution = np.where(is_turn[table.chunks[first]], 0.0, meaning.dilution * share)  # turns compete with each other
    whole: NDArray[np.float64] = (scores + dilution + meaning.whole_by_model[first])[chunk_of_piece]
    return whole


def reciprocal_ranks(rankings: Sequence[tuple[float, Sequence[int]]]) -> Mapping[int, float]:
    """Weighted reciprocal rank fusion, ``Σ w / (60 + rank)``, rank from 1: the alternative to absolute scores.

    Each ranking is its weight and its keys, best first. A key missing from a ranking gains nothing from it.
    """
    fused: dict[int, float] = {}
    for weight, keys in rankings:
        for rank, key in enumerate(keys, start=1):
            fused[key] = fused.get(key, 0.0) + weight / (RRF_K + rank)
    return fused


def time_bonuses(in_window: AbstractSet[ChunkKey], dated: AbstractSet[ChunkKey]) -> Mapping[ChunkKey, float]:
    """Score bonus of each chunk that is in either set."""
    return {key: IN_WINDOW * (key in in_window) + DATED * (key in dated) for key in in_window | dated}
