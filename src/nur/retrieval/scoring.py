"""How well a chunk answers a question: one number on a fixed scale.

    score = BM25F / Σ weight of the question's terms  +  w · cosine  +  priors

Both parts are absolute: 0 is "nothing in common", and neither depends on which other candidates were found. Ranks
(reciprocal rank fusion) throw that away: on LoCoMo they lose 3 points of recall@10, in languages that the vectors
do not know up to .24 nDCG, and they cannot say "nothing here answers".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nur.retrieval.profiles import look_up

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nur.retrieval.queries import WeighedTerms

K1 = 1.2
B = 0.75
"""BM25's saturation and length penalty. k1 .9 to 2 and b .6 to .9 are all within a point on every set."""

NEIGHBOUR_WEIGHTS = {1: 0.5, 2: 0.25}
"""What a word counts that stands in the turn before or after (1), or the next but one (2)."""

FULL_WEIGHT_CHARACTERS = 600
"""Neighbours count in full between turns up to this long, and less the longer either is: they lift short chats
(LoCoMo recall@10 .58 → .70) and would ruin long ones (BEAM .44 → .34 without this gate)."""

RRF_K = 60


class Neighbour(NamedTuple):
    """Two rows of a pool that stand near each other in a conversation."""

    row: int
    other: int
    distance: int  #: turns between them: 1 is the next turn


@dataclass(frozen=True, slots=True)
class Pool:
    """The chunks that a search looks at: its candidates, and the turns next to them."""

    profiles: Sequence[bytes]
    characters: NDArray[np.float64]
    neighbours: Sequence[Neighbour]  #: both directions are listed; empty unless there are turns


def lexical_scores(pool: Pool, terms: WeighedTerms, average_length: float) -> NDArray[np.float64]:
    """The share of the question's weight that each chunk of the pool matches, 0 to 1.

    ``average_length`` is that of all chunks in the store, in words. A turn is scored with its neighbours' words: counts
    and lengths are added, as BM25F does with fields.
    """
    found = look_up(pool.profiles, terms.ids)
    counts, lengths = found.counts, found.lengths
    shares = np.ones(len(lengths))
    if pool.neighbours:
        links = np.array(pool.neighbours, np.int64)
        near = _gated(links, pool.characters)
        near_counts, near_lengths = near[:, None] * counts[links[:, 1]], near * lengths[links[:, 1]]
        counts, lengths = counts.copy(), lengths.copy()
        np.add.at(counts, links[:, 0], near_counts)
        np.add.at(lengths, links[:, 0], near_lengths)
        np.add.at(shares, links[:, 0], near)
    # A turn with neighbours is compared with an average chunk that has as many: otherwise all of them look too long
    # (LoCoMo recall@10 .739 → .760).
    expected = np.maximum(average_length, 1.0) * shares
    saturation = K1 * (1 - B + B * lengths / expected)
    matched: NDArray[np.float64] = counts / (counts + saturation[:, None]) @ terms.weights
    return matched / terms.total


def _gated(links: NDArray[np.int64], characters: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weight of each neighbour link: by distance, less when either turn is long."""
    by_distance = np.array([NEIGHBOUR_WEIGHTS.get(int(distance), 0.0) for distance in links[:, 2]])
    gate = np.minimum(1.0, FULL_WEIGHT_CHARACTERS / np.maximum(characters, 1.0))
    weights: NDArray[np.float64] = by_distance * gate[links[:, 0]] * gate[links[:, 1]]
    return weights


def reciprocal_ranks(rankings: Sequence[tuple[float, Sequence[int]]]) -> Mapping[int, float]:
    """Weighted reciprocal rank fusion, ``Σ w / (60 + rank)``, rank from 1: the alternative to absolute scores.

    Each ranking is its weight and its keys, best first. A key that a ranking lacks gains nothing from it.
    """
    fused: dict[int, float] = {}
    for weight, keys in rankings:
        for rank, key in enumerate(keys, start=1):
            fused[key] = fused.get(key, 0.0) + weight / (RRF_K + rank)
    return fused
