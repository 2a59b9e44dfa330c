from __future__ import annotations

from nur.domain.notes import ChunkKey
from nur.domain.traces import Verdict
from nur.retrieval.duplicates import Collapsed
from nur.retrieval.verdicts import judge
from tests.candidates import a_ranked
from tests.ledger_notes import a_note

FLOOR = 0.2


def test_every_candidate_has_the_verdict_that_it_met() -> None:
    long = a_note(pieces=2)
    ranked = [
        a_ranked("Bread is baked at five in the morning by the baker", 0.9, note=long),
        a_ranked("Flour and salt", 0.8, note=long, index=1),
        a_ranked("Butter is churned", 0.7),
        a_ranked("butter is churned", 0.6),
        a_ranked("Jam is cooked", 0.5),
        a_ranked("Ships are built", 0.1),
    ]
    butter = Collapsed(ranked[2], (ranked[3],))
    hits = [Collapsed(ranked[0], ()), butter, Collapsed(ranked[4], ())]
    traced = judge(
        ranked, hits, limit=2, floor=FLOOR, rerank_scores={ranked[0].note_id: 7.5}, dropped=[ChunkKey(10**6)]
    )
    assert [(one.verdict, one.place) for one in traced] == [
        (Verdict.RETURNED, 1),
        (Verdict.SAME_NOTE, 1),
        (Verdict.RETURNED, 2),
        (Verdict.COLLAPSED, None),
        (Verdict.BEYOND_LIMIT, 3),
        (Verdict.BELOW_FLOOR, None),
        (Verdict.NOT_VISIBLE, None),
    ]
    assert traced[3].instead == ranked[2].candidate.public_id
    assert (traced[0].rerank_score, traced[2].rerank_score) == (7.5, None)
    assert (traced[-1].chunk_key, traced[-1].public_id, traced[-1].score) == (10**6, None, None)


def test_places_are_those_of_the_answer_and_not_of_the_first_ranking() -> None:
    ranked = [a_ranked("Bread", 0.9), a_ranked("Salt", 0.8)]
    hits = [Collapsed(one, ()) for one in reversed(ranked)]  # as a reranker would have it
    traced = judge(ranked, hits, limit=1, floor=None, rerank_scores={}, dropped=[])
    assert [(one.verdict, one.place) for one in traced] == [(Verdict.BEYOND_LIMIT, 2), (Verdict.RETURNED, 1)]
