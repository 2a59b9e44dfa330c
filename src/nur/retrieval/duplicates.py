"""Notes that say almost the same: one is shown, the others are counted.

Notes whose numbers differ are never duplicates: "Sprint 12 ended late" and "Sprint 13 ended late" are two facts. A note
that was cut is compared, by its best chunk, with notes cut into as many chunks: documents that share a page of
boilerplate are still two documents.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import regex

from nur.retrieval.profiles import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.retrieval.ranking import Ranked

NEAR_DUPLICATE = 0.9
"""Two notes are near duplicates when their sets of terms share this part (Jaccard)."""

SKETCH = 8
SKETCH_IN_COMMON = 4
"""Terms are hashes, so the smallest few are a fair sample: texts of which nine tenths are alike have seven of their
eight smallest in common, unrelated ones one or two. Looking at these first spares comparing every pair in full."""

_NUMBER = regex.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A hit that stands for others with almost the same text."""

    shown: Ranked
    duplicates: tuple[Ranked, ...]


@dataclass(frozen=True, slots=True)
class _Text:
    """A hit's terms, and the hits that it stands for."""

    one: Ranked
    ids: Sequence[int]  #: ascending
    sketch: frozenset[int]
    duplicates: list[Ranked] = field(default_factory=list)

    @classmethod
    def of(cls, one: Ranked) -> _Text:
        """The terms of a hit's best chunk."""
        ids = Profile.decode(one.candidate.stored.profile).ids.tolist()
        return cls(one, ids, frozenset(ids[:SKETCH]))

    def is_like(self, other: _Text) -> bool:
        """Whether nine tenths of the terms are the same; texts without terms are like nothing."""
        enough = min(SKETCH_IN_COMMON, len(self.sketch), len(other.sketch))
        if not enough or len(self.sketch & other.sketch) < enough:
            return False
        fewer, more = sorted((len(self.ids), len(other.ids)))
        if fewer < NEAR_DUPLICATE * more:
            return False
        shared = len(set(self.ids).intersection(other.ids))
        return shared >= NEAR_DUPLICATE * (fewer + more - shared)


def fold_duplicates(ranked: Sequence[Ranked]) -> list[Collapsed]:
    """One candidate a note, best first, in; the same without those that a better one stands for, out."""
    shown: list[_Text] = []
    alike: dict[tuple[int, str], list[_Text]] = defaultdict(list)
    for one in ranked:
        text, rivals = _Text.of(one), alike[_mark(one)]
        better = next((other for other in rivals if other.is_like(text)), None)
        if better is not None:
            better.duplicates.append(one)
        else:
            rivals.append(text)
            shown.append(text)
    return [Collapsed(text.one, tuple(text.duplicates)) for text in shown]


def _mark(one: Ranked) -> tuple[int, str]:
    """What must be equal in duplicates: into how many chunks the note was cut, and the numbers in the best one."""
    return one.candidate.note.chunk_count, " ".join(_NUMBER.findall(one.candidate.stored.chunk.content))
