"""Notes that say almost the same: one is shown, the others are counted.

Notes whose numbers differ are never duplicates: "Sprint 12 ended late" and "Sprint 13 ended late" are two facts. A note
that was cut is compared, by its best chunk, with notes cut into as many chunks: documents that share a page of
boilerplate are still two documents.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from zlib import crc32

import regex

from nur.retrieval.grouping import Collapsed, collapse
from nur.retrieval.profiles import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.retrieval.ranking import Ranked

_NUMBER = regex.compile(r"\d+")


def fold_duplicates(ranked: Sequence[Ranked]) -> list[Collapsed[Ranked]]:
    """One candidate a note, best first, in; the same without those that a better one stands for, out."""
    ends = [_ends(one) for one in ranked]
    shared = Counter(end for pair in ends for end in pair)
    suspects = [one for one, pair in zip(ranked, ends, strict=True) if any(shared[end] > 1 for end in pair)]
    folded = {one.shown.note_id: one for one in collapse(suspects, _terms)}
    hidden = {other.note_id for one in folded.values() for other in one.duplicates}
    return [folded.get(one.note_id) or Collapsed(one, ()) for one in ranked if one.note_id not in hidden]


def _ends(one: Ranked) -> set[tuple[str, bytes]]:
    """A text's smallest and its largest term.

    Terms are hashes, so texts of which nine tenths are alike have the same smallest one nine times in ten, and one of
    the two ends in common 99 times in 100: looking at these spares comparing every pair.
    """
    blob = one.candidate.stored.profile
    distinct = (len(blob) - 4) // 5
    return {("first", blob[4:8]), ("last", blob[4 * distinct : 4 * distinct + 4])} if distinct > 0 else set()


def _terms(one: Ranked) -> frozenset[int]:
    """The best chunk's terms, each marked with the numbers in the text and how often the note was cut."""
    stored = one.candidate.stored
    numbers = " ".join(_NUMBER.findall(stored.chunk.content))
    mark = crc32(f"{one.candidate.note.chunk_count}:{numbers}".encode()) << 32
    return frozenset(mark | term for term in Profile.decode(stored.profile).ids.tolist())
