"""How well a chunk answers a question: one number on a fixed scale.

    score = BM25F / Σ weight of the question's terms  +  0.4 · cosine  +  what the heading and the speaker tell

Both parts are absolute: 0 is "nothing in common", and neither depends on which other candidates were found. Ranks
(reciprocal rank fusion) throw that away: on LoCoMo they lose 3 points of recall@10, in languages that the vectors
do not know up to .24 nDCG, and they cannot say "nothing here answers".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nur.retrieval.ranking.term_vectors import look_up

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nur.retrieval.ranking.queries import WeighedTerms

K1 = 1.2
B = 0.75
"""BM25's saturation and length penalty. k1 .9 to 2 and b .6 to .9 are all within a point on every set."""

NEIGHBOUR_WEIGHTS = (0.6, 0.3)
"""What a word counts that stands in the turn before or after, and in the next but one. .5 and .25: LoCoMo −.01."""

FULL_WEIGHT_CHARACTERS = 600
"""Neighbours count in full between turns up to this long, and less the longer either is: they lift short chats
(LoCoMo recall@10 .58 → .70, words alone) and would ruin long ones (BEAM .44 → .34 without this gate)."""

RRF_K = 60


class Neighbour(NamedTuple):
    """Two rows of a pool that stand near each other in a conversation."""

    row: int
    other: int
    distance: int  #: in turns: 1 is the next one


@dataclass(frozen=True, slots=True)
class Pool:
    """The chunks that a search looks at: its candidates, and the turns next to them.

    A neighbour must be a turn of one chunk; a longer one would count next to nothing.
    """

    profiles: Sequence[bytes]
    characters: NDArray[np.float64]
    neighbours: Sequence[Neighbour]  #: for each row that is scored, the rows near it; empty unless there are turns


def lexical_scores(pool: Pool, terms: WeighedTerms, average_length: float) -> NDArray[np.float64]:
    """The share of the question's weight that each chunk of the pool matches, 0 to 1.

    ``average_length`` is that of all chunks in the store, in words. A turn is scored with its neighbours' words: counts
    and lengths are added, as BM25F does with fields.
    """
    found = look_up(pool.profiles, terms.ids)
    counts, lengths = found.counts, found.lengths
    shares = np.ones(len(lengths))
    if pool.neighbours:
        near = _neighbour_weights(pool)
        counts, lengths, shares = counts + near @ counts, lengths + near @ lengths, shares + near.sum(axis=1)
    # A turn with neighbours is compared with an average chunk that has as many: otherwise all turns look too long
    # (LoCoMo recall@10 .739 → .770).
    expected = max(average_length, 1.0) * shares
    saturation = K1 * (1 - B + B * lengths / expected)
    matched: NDArray[np.float64] = counts / (counts + saturation[:, None]) @ terms.weights
    return matched / terms.total


def _neighbour_weights(pool: Pool) -> NDArray[np.float64]:
    """What the words of each row (column) count for each row: by distance, less when either turn is long."""
    rows, others, distances = np.array(pool.neighbours, np.int64).T
    by_distance = np.array((0.0, *NEIGHBOUR_WEIGHTS))[distances]
    gate = np.minimum(1.0, FULL_WEIGHT_CHARACTERS / np.maximum(pool.characters, 1.0))
    near = np.zeros((len(gate), len(gate)))
    near[rows, others] = by_distance * gate[rows] * gate[others]
    return near


def confidence(lexical: float, cosine: float) -> float:
    """How sure it is that a chunk answers, 0 to 1.

    Meaning counts as much as words here, which tells questions off topic better than the score does: AUROC .881
    instead of .873 on LoCoMo, .899 instead of .889 on BEAM. Bonuses stay out, for a speaker's name does not say that
    the answer is there; and a meaning that is far off takes nothing from words that match.
    """
    return (lexical + max(cosine, 0.0)) / 2


def reciprocal_ranks(rankings: Sequence[tuple[float, Sequence[int]]]) -> Mapping[int, float]:
    """Weighted reciprocal rank fusion, ``Σ w / (60 + rank)``, rank from 1: the alternative to absolute scores.

    Each ranking is its weight and its keys, best first. A key that a ranking lacks gains nothing from it.
    """
    fused: dict[int, float] = {}
    for weight, keys in rankings:
        for rank, key in enumerate(keys, start=1):
            fused[key] = fused.get(key, 0.0) + weight / (RRF_K + rank)
    return fused
