from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.domain.search import Fusion
from nur.retrieval.calibration import LOCAL, ModelCalibration
from nur.retrieval.pieces.stored import decode_pieces
from nur.retrieval.pieces.vectors import mean_vectors, quantised
from nur.retrieval.ranking.queries import SimilarTerm, query_terms, weigh
from nur.retrieval.ranking.rank import ModelEvidence, PieceQuestion, rank
from nur.retrieval.text.analysis import ANALYZER, term_id
from tests.candidates import TOKENS, a_candidate
from tests.store_notes import a_turn

if TYPE_CHECKING:
    from nur.ports.chunks import ScoringView
    from nur.retrieval.ranking.rank import Ranked

PROFILE = ModelCalibration(embedding_version="test:model:8")
QUESTION = "When is tea drunk?"
UNASKED = ModelEvidence({})  #: the store's own model told nothing
FILLING = "The garden wall leans towards the road and nobody minds. "


def asked(question: str = QUESTION) -> PieceQuestion:
    terms = weigh(query_terms(question, ANALYZER), {}, 10)
    return PieceQuestion(question, terms, mean_vectors([question], TOKENS)[0])


def ranked(
    found: list[tuple[ScoringView, float]], profile: ModelCalibration = PROFILE, fusion: Fusion = Fusion.SCORE
) -> list[Ranked]:
    cosines = {candidate.chunk_key: cosine for candidate, cosine in found}
    return rank(asked(), [candidate for candidate, _ in found], [], ModelEvidence(cosines), profile, fusion)


def test_the_score_is_the_lexical_share_plus_the_weighted_cosine_plus_the_rest() -> None:
    found = [(a_candidate("Tea is drunk at four."), 0.5), (a_candidate("The bridge is closed."), 0.25)]
    for one in ranked(found, replace(PROFILE, cosine_weight=0.8)):
        assert one.score == pytest.approx(one.lexical + 0.8 * (one.cosine or 0) + one.bonus)


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
    order = [one.rrf_score for one in ranked(found, fusion=Fusion.RRF)]
    assert order == sorted(order, reverse=True)
    scores = [one.score for one in ranked(found)]
    assert scores == sorted(scores, reverse=True)
    assert ranked(found)[0].candidate is both


def test_equal_ones_stand_in_the_order_of_their_keys() -> None:
    first, second = a_candidate("Tea is drunk."), a_candidate("Tea is drunk.")
    for fusion in Fusion:
        assert ranked([(second, 0.5), (first, 0.5)], fusion=fusion)[0].candidate is first


def test_no_candidates_are_no_hits() -> None:
    assert ranked([]) == []


@given(
    st.lists(st.sampled_from(["Tea is hot.", FILLING * 20, "# Tea\n\n" + FILLING, "When?"]), max_size=6),
    st.sampled_from(["Tea is drunk at four.", FILLING * 3 + "Tea is drunk at four. " + FILLING * 3]),
)
def test_what_else_is_stored_does_not_change_a_score(others: list[str], text: str) -> None:
    """With the same word statistics: they alone may depend on the store."""
    candidate = a_candidate(text)
    alone = rank(asked(), [candidate], [], UNASKED, LOCAL)[0]
    among = rank(asked(), [*map(a_candidate, others), candidate], [], UNASKED, LOCAL)
    again = next(one for one in among if one.candidate is candidate)
    assert (again.score, again.lexical, again.relevance) == (alone.score, alone.lexical, alone.relevance)


def test_a_sentence_in_a_long_document_scores_like_the_same_sentence_alone() -> None:
    sentence = "Tea is drunk at four o'clock in the garden house, as long as the weather is fine enough."
    short, long = a_candidate(sentence), a_candidate(FILLING * 30 + "\n\n" + sentence + "\n\n" + FILLING * 30)
    by_chunk = {one.candidate.chunk_key: one for one in rank(asked(), [short, long], [], UNASKED, LOCAL)}
    alone, inside = by_chunk[short.chunk_key], by_chunk[long.chunk_key]
    assert inside.lexical > 0.8 * alone.lexical
    assert inside.score > 0.5 * alone.score


def test_a_title_counts_for_every_piece_of_its_note_and_less_than_the_words_themselves() -> None:
    tea = term_id(next(iter(ANALYZER.terms("tea"))))
    titled = a_candidate("It is drunk at four.")._replace(heading=tea.to_bytes(4, "little"))
    plain, own = a_candidate("It is drunk at four."), a_candidate("Tea is drunk at four.")
    order = [one.candidate for one in rank(asked(), [plain, titled, own], [], UNASKED, LOCAL)]
    assert order == [own, titled, plain]


def test_a_word_like_the_questions_counts_less_than_the_word_itself() -> None:
    terms = query_terms(QUESTION, ANALYZER)
    tea, brew = (next(term.id for term in query_terms(word, ANALYZER) if not term.id & 1) for word in ("tea", "brew"))
    expanded = weigh(terms, {}, 10, [SimilarTerm(tea, brew, 0.6)])
    own, near, other = (a_candidate(f"{word} is served at four.") for word in ("Tea", "Brew", "Soup"))
    question = PieceQuestion(QUESTION, expanded, None)
    by_chunk = {one.candidate.chunk_key: one.lexical for one in rank(question, [own, near, other], [], UNASKED, LOCAL)}
    assert by_chunk[own.chunk_key] > by_chunk[near.chunk_key] > by_chunk[other.chunk_key]


def test_neighbours_lift_a_turn_but_never_above_the_best_of_them() -> None:
    turns = [a_turn("c", number) for number in range(3)]
    texts = ["When do you drink tea?", "At four.", "I see, and the wall?"]
    views = [a_candidate(text, turn) for text, turn in zip(texts, turns, strict=True)]
    together = {one.candidate.chunk_key: one.score for one in rank(asked("tea"), views, [], UNASKED, LOCAL)}
    reply = views[1]
    alone = rank(asked("tea"), [reply], [], UNASKED, LOCAL)[0].score
    assert alone < together[reply.chunk_key] <= together[views[0].chunk_key]


def test_turns_beside_the_candidates_lend_their_words_and_are_not_ranked() -> None:
    asking, reply = a_candidate("When do you drink tea?", a_turn("c", 0)), a_candidate("At four.", a_turn("c", 1))
    alone = rank(asked("tea"), [reply], [], UNASKED, LOCAL)
    beside = rank(asked("tea"), [reply], [asking], UNASKED, LOCAL)
    assert [one.candidate for one in beside] == [reply]
    assert beside[0].score > alone[0].score


def test_a_question_about_the_asker_costs_the_other_ones_turns() -> None:
    mine = a_candidate("I drink tea at four.", a_turn("c", 1, role="user"))
    yours = a_candidate("I drink tea at four.", a_turn("d", 1, role="assistant"))
    question = asked("When do I drink tea?")
    assert [one.candidate for one in rank(question, [yours, mine], [], UNASKED, LOCAL)] == [mine, yours]
    memory = a_candidate("I drink tea at four.")
    scores = {one.candidate.chunk_key: one.score for one in rank(question, [mine, memory], [], UNASKED, LOCAL)}
    assert scores[mine.chunk_key] <= scores[memory.chunk_key] + 1e-6  # no kind is lifted above another


def test_a_chunk_that_waits_to_be_analysed_has_its_cosine_alone() -> None:
    waiting = a_candidate("Tea is drunk at four.")._replace(pieces=b"", piece_vectors=b"")
    found = rank(asked(), [waiting], [], ModelEvidence({waiting.chunk_key: 0.5}), PROFILE)[0]
    assert (found.lexical, found.cosine) == (0.0, 0.5)
    assert found.score == pytest.approx(0.25)


def test_the_vector_of_a_piece_counts_beside_that_of_its_whole_chunk() -> None:
    """A document whose one sentence is near the question, by a model that embeds pieces, and one that is not."""
    texts = [FILLING * 6 + "\n\n" + last for last in ("The kettle sings at four.", "The bridge is closed at four.")]
    near, far = map(a_candidate, texts)
    pieces = len(decode_pieces([near.pieces]))
    away, along = np.array([0.0, 1.0], np.float32), np.array([1.0, 0.0], np.float32)
    rows = {near: [away] * (pieces - 1) + [along], far: [away] * pieces}
    vectors = {view.chunk_key: quantised(np.stack(own)).tobytes() for view, own in rows.items()}
    found = rank(replace(asked(), model_vector=along), [far, near], [], ModelEvidence({}, vectors), PROFILE)
    assert [one.candidate for one in found] == [near, far]
    assert found[0].cosine == pytest.approx(1.0)
    assert int(np.argmax(found[0].piece_scores)) == pieces - 1


def test_vectors_of_pieces_that_were_cut_differently_do_not_count() -> None:
    view = a_candidate("Tea is drunk at four.")
    evidence = ModelEvidence({view.chunk_key: 0.5}, {view.chunk_key: b"\x01\x02\x03\x04"})
    found = rank(replace(asked(), model_vector=np.array([1.0, 0.0], np.float32)), [view], [], evidence, PROFILE)
    assert found[0].cosine == 0.5
