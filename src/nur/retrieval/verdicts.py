"""What became of each candidate, and why: the material of a search's trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.traces import TracedCandidate, Verdict
from nur.retrieval.shortlist import is_below

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import ChunkKey, NoteId
    from nur.retrieval.duplicates import Collapsed
    from nur.retrieval.ranking import Ranked


def judge(
    ranked: Sequence[Ranked],
    hits: Sequence[Collapsed],
    *,
    limit: int,
    floor: float | None,
    rerank_scores: Mapping[NoteId, float],
    dropped: Sequence[ChunkKey],
) -> tuple[TracedCandidate, ...]:
    """Every candidate with its verdict: ranked ones in their order, then what was dropped on reading.

    `hits` are all that could be shown, in the order of the answer; the first `limit` of them were.
    """
    # By public ids: hashing a UUID takes ten times as long, and each candidate is looked up five times.
    places = {hit.shown.candidate.public_id: place for place, hit in enumerate(hits, 1)}
    folded = {other.candidate.public_id: hit.shown for hit in hits for other in hit.duplicates}
    seen: set[str] = set()
    traced: list[TracedCandidate] = []
    for one in ranked:
        note = one.candidate.public_id
        instead, place = folded.get(note), places.get(note)
        if note in seen:
            verdict = Verdict.SAME_NOTE
        elif is_below(one, floor):
            verdict = Verdict.BELOW_FLOOR
        elif instead is not None:
            verdict = Verdict.COLLAPSED
        elif place is None:  # gone since it was ranked
            verdict = Verdict.NOT_VISIBLE
        else:
            verdict = Verdict.RETURNED if place <= limit else Verdict.BEYOND_LIMIT
        seen.add(note)
        traced.append(
            TracedCandidate(
                one.candidate.chunk_key,
                verdict,
                note,
                one.candidate.chunk_index,
                place,
                None if instead is None else instead.candidate.public_id,
                one.score,
                one.lexical,
                one.cosine,
                one.bonus,
                one.rrf_score,
                rerank_scores.get(one.note_id) if rerank_scores else None,
                one.ranks,
            )
        )
    traced += [TracedCandidate(chunk_key=key, verdict=Verdict.NOT_VISIBLE) for key in dropped]
    return tuple(traced)
