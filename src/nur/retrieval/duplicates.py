"""Notes that say almost the same: one is shown, the others are counted.

Notes whose numbers differ are never duplicates: "Sprint 12 ended late" and "Sprint 13 ended late" are two facts. A note
that was cut is compared, by its best chunk, with notes cut into as many chunks: documents that share a page of
boilerplate are still two documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.retrieval.analysis import NUMERIC
from nur.retrieval.profiles import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.retrieval.ranking import Ranked

NEAR_DUPLICATE = 0.9
"""Two notes are near duplicates when their sets of terms share this part (Jaccard)."""

LOOK_AHEAD = 4
"""Duplicates are looked for, and counted, among this many times the notes that shall be shown."""

SAMPLE = 4
"""Terms in a sample of a text."""

STARTS = np.array([0, NUMERIC // 4, NUMERIC // 2, 3 * (NUMERIC // 4)], np.uint32)
"""Where samples start. Terms are hashes, spread evenly: texts that share nine tenths of theirs have all four terms of a
sample in common two times in three, and one of the samples 99 times in 100; texts that share a third, one in 16."""


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A hit that stands for others with almost the same text."""

    shown: Ranked
    duplicates: tuple[Ranked, ...]


def fold_duplicates(ranked: Sequence[Ranked], enough: int) -> list[Collapsed]:
    """One candidate a note, best first, in; the same without those that a better one stands for, out.

    Ends when `enough` are found that differ; what follows is passed on as it is. Only texts with a sample in common are
    compared: reading all numbers and terms of 77 chunks would take eight times as long.
    """
    shown: list[tuple[Ranked, list[Ranked]]] = []  #: each with those that it stands for
    holding: dict[bytes, list[int]] = {}  #: places in `shown` by sample
    looked_at = 0
    for one in ranked:
        if len(shown) >= enough and looked_at >= LOOK_AHEAD * enough:
            break
        looked_at += 1
        samples = _samples(one)
        suspects = sorted({place for sample in samples for place in holding.get(sample, ())})
        same = next((place for place in suspects if _are_alike(shown[place][0], one)), None)
        if same is not None:
            shown[same][1].append(one)
            continue
        for sample in samples:
            holding.setdefault(sample, []).append(len(shown))
        shown.append((one, []))
    folded = [Collapsed(one, tuple(others)) for one, others in shown]
    return folded + [Collapsed(one, ()) for one in ranked[looked_at:]]


def _samples(one: Ranked) -> set[bytes]:
    """A few terms of a text from each of several places; all of them where there are few."""
    ids = Profile.decode(one.candidate.profile).ids
    if ids.size <= SAMPLE:
        return {ids.tobytes()} if ids.size else set()
    starts = [*np.searchsorted(ids, STARTS).tolist(), ids.size - SAMPLE]
    return {ids[start : start + SAMPLE].tobytes() for start in starts if start + SAMPLE <= ids.size}


def _are_alike(one: Ranked, other: Ranked) -> bool:
    """Whether nine tenths of the terms are the same, and so is what must be."""
    if one.candidate.chunk_count != other.candidate.chunk_count:
        return False
    ids, others = (Profile.decode(each.candidate.profile).ids for each in (one, other))
    if not np.array_equal(ids[ids >= NUMERIC], others[others >= NUMERIC]):
        return False
    shared = np.intersect1d(ids, others, assume_unique=True).size
    return bool(shared >= NEAR_DUPLICATE * (ids.size + others.size - shared))
