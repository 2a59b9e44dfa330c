from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nur.domain.search import Fusion
from nur.retrieval.calibration import ModelCalibration
from nur.retrieval.ranking.queries import query_terms, weigh
from nur.retrieval.ranking.rank import rank
from nur.retrieval.text.analysis import ANALYZER
from tests.candidates import a_candidate
from tests.store_notes import a_turn

if TYPE_CHECKING:
    from nur.ports.chunks import ScoringView
    from nur.retrieval.ranking.rank import Ranked

PROFILE = ModelCalibration(embedding_version="test:model:8")
QUESTION = "When is tea drunk?"


def ranked(
    found: list[tuple[ScoringView, float]], profile: ModelCalibration = PROFILE, fusion: Fusion = Fusion.SCORE
) -> list[Ranked]:
    terms = query_terms(QUESTION, ANALYZER)
    cosines = {candidate.chunk_key: cosine for candidate, cosine in found}
    candidates = [candidate for candidate, _ in found]
    return rank(QUESTION, candidates, [], weigh(terms, {}, 10), 5.0, cosines, profile, fusion)


def test_the_score_is_the_lexical_share_plus_the_weighted_cosine() -> None:
    found = [(a_candidate("Tea is drunk at four."), 0.5), (a_candidate("The bridge is closed."), 0.25)]
    for one in ranked(found, replace(PROFILE, cosine_weight=0.8)):
        assert one.score == pytest.approx(one.lexical + 0.8 * (one.cosine or 0) + one.bonus)
        assert one.confidence == pytest.approx((one.lexical + (one.cosine or 0)) / 2)


def test_every_candidate_has_its_rank_with_each_ranker_and_the_sum_of_reciprocals() -> None:
    tea, bridge = a_candidate("Tea is drunk at four."), a_candidate("Bridge")
    best, other = ranked([(tea, 0.1), (bridge, 0.9)], replace(PROFILE, rrf_weight=2.0))
    assert (best.candidate, other.candidate) == (tea, bridge)
    assert (best.ranks, other.ranks) == ({"lexical": 1, "dense": 2}, {"dense": 1})
    assert best.rrf_score == pytest.approx(1 / 61 + 2 / 62)
    assert other.rrf_score == pytest.approx(2 / 61)


def test_with_rrf_ranks_decide_and_with_score_the_distance_does() -> None:
    both = a_candidate("Tea, they say, is best drunk when it is hot.")
    found = [
        (a_candidate("Tea is drunk at four."), -0.9),  # first by words, last by meaning, and by far
        (both, 0.1),  # second in both
        (a_candidate("Bridge"), 0.2),  # first by meaning
    ]
    assert ranked(found, fusion=Fusion.RRF)[0].candidate in (found[0][0], both)
    order = [one.rrf_score for one in ranked(found, fusion=Fusion.RRF)]
    assert order == sorted(order, reverse=True)
    scores = [one.score for one in ranked(found)]
    assert scores == sorted(scores, reverse=True)
    assert ranked(found)[0].candidate is both


def test_equal_ones_stand_in_the_order_of_their_keys() -> None:
    first, second = a_candidate("Tea is drunk."), a_candidate("Tea is drunk.")
    for fusion in Fusion:
        assert ranked([(second, 0.5), (first, 0.5)], fusion=fusion)[0].candidate is first


def test_a_profile_can_switch_priors_off() -> None:
    turn = a_turn("c", 1, role="user")
    asked = "When do I drink tea?"
    candidate = a_candidate("I drink tea at four.", turn)
    terms = weigh(query_terms(asked, ANALYZER), {}, 10)

    def prior(profile: ModelCalibration) -> float:
        return rank(asked, [candidate], [], terms, 5.0, {}, profile)[0].bonus

    assert prior(PROFILE) > 0
    assert prior(replace(PROFILE, bonuses=False)) == 0


def test_no_candidates_are_no_hits() -> None:
    assert ranked([]) == []
