"""From ranked chunks to notes that may be shown: each by its best chunk, nothing below the floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nur.retrieval.ranking.rank import Ranked


@dataclass(frozen=True, slots=True)
class Shortlist:
    """What may be shown, best first, one candidate per note, before the cut to a limit."""

    notes: Sequence[Ranked]
    reached_floor: bool  #: something was below it: looking further would only find more of that


def shortlist(
    ranked: Sequence[Ranked], floor: float | None, superseded: Mapping[str, Sequence[str]] | None = None
) -> Shortlist:
    """The best chunk of each note, without what does not answer.

    What supersedes an answer is one, whatever its words: `superseded` names it by the public id of the older note.
    """
    best = best_per_note(ranked)
    fit = {one.candidate.public_id for one in best if not is_below(one, floor)}
    fit |= {newer for older, names in (superseded or {}).items() if older in fit for newer in names}
    notes = [one for one in best if one.candidate.public_id in fit]
    return Shortlist(notes, len(notes) < len(best))


def is_below(one: Ranked, floor: float | None) -> bool:
    """Whether a candidate is no answer; one that was not compared by meaning is let through."""
    return floor is not None and one.cosine is not None and one.relevance < floor


def best_per_note(ranked: Iterable[Ranked]) -> list[Ranked]:
    """The best chunk of each note, in order."""
    best: dict[str, Ranked] = {}
    for one in ranked:
        best.setdefault(one.candidate.public_id, one)
    return list(best.values())
