"""What became of each candidate, and why: the material of a search's trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.traces import CandidateOutcome, TracedCandidate
from nur.retrieval.ranking.grouping import is_below

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import ChunkKey, NoteId
    from nur.retrieval.ranking.duplicates import HitGroup
    from nur.retrieval.ranking.rank import Ranked


def trace_candidates(
    ranked: Sequence[Ranked],
    hits: Sequence[HitGroup],
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
            verdict = CandidateOutcome.SAME_NOTE
        elif is_below(one, floor):
            verdict = CandidateOutcome.BELOW_FLOOR
        elif instead is not None:
            verdict = CandidateOutcome.COLLAPSED
        elif place is None:  # gone since it was ranked
            verdict = CandidateOutcome.NOT_VISIBLE
        else:
            verdict = CandidateOutcome.RETURNED if place <= limit else CandidateOutcome.BEYOND_LIMIT
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
    traced += [TracedCandidate(chunk_key=key, verdict=CandidateOutcome.NOT_VISIBLE) for key in dropped]
    return tuple(traced)
