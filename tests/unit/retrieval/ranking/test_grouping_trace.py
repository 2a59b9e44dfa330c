from __future__ import annotations

from nur.domain.notes import ChunkKey
from nur.domain.traces import CandidateOutcome
from nur.retrieval.ranking.grouping import HitGroup, trace_candidates
from tests.candidates import a_ranked
from tests.store_notes import a_note

FLOOR = 0.2


def test_every_candidate_has_the_outcome_that_it_met() -> None:
    long = a_note(pieces=2)
    ranked = [
        a_ranked("Bread is baked at five in the morning by the baker", 0.9, note=long),
        a_ranked("Flour and salt", 0.8, note=long, index=1),
        a_ranked("Butter is churned", 0.7),
        a_ranked("butter is churned", 0.6),
        a_ranked("Jam is cooked", 0.5),
        a_ranked("Ships are built", 0.1),
    ]
    butter = HitGroup(ranked[2], (ranked[3],))
    hits = [HitGroup(ranked[0], ()), butter, HitGroup(ranked[4], ())]
    traced = trace_candidates(
        ranked, hits, limit=2, floor=FLOOR, rerank_scores={ranked[0].note_id: 7.5}, dropped=[ChunkKey(10**6)]
    )
    assert [(one.outcome, one.place) for one in traced] == [
        (CandidateOutcome.RETURNED, 1),
        (CandidateOutcome.SAME_NOTE, 1),
        (CandidateOutcome.RETURNED, 2),
        (CandidateOutcome.COLLAPSED, None),
        (CandidateOutcome.BEYOND_LIMIT, 3),
        (CandidateOutcome.BELOW_FLOOR, None),
        (CandidateOutcome.NOT_VISIBLE, None),
    ]
    assert traced[3].instead == ranked[2].candidate.public_id
    assert (traced[0].rerank_score, traced[2].rerank_score) == (7.5, None)
    assert (traced[-1].chunk_key, traced[-1].public_id, traced[-1].score) == (10**6, None, None)


def test_places_are_those_of_the_answer_and_not_of_the_first_ranking() -> None:
    ranked = [a_ranked("Bread", 0.9), a_ranked("Salt", 0.8)]
    hits = [HitGroup(one, ()) for one in reversed(ranked)]  # as a reranker would have it
    traced = trace_candidates(ranked, hits, limit=1, floor=None, rerank_scores={}, dropped=[])
    assert [(one.outcome, one.place) for one in traced] == [
        (CandidateOutcome.BEYOND_LIMIT, 2),
        (CandidateOutcome.RETURNED, 1),
    ]
