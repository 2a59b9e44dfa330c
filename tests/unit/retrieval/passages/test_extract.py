from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.retrieval.calibration import LOCAL
from nur.retrieval.passages.atoms import PassageChunk, PassageNote
from nur.retrieval.passages.extract import (
    FIRST_PASSAGE,
    MIN_FIRST_PASSAGE,
    MIN_PASSAGE,
    NEXT_PASSAGES,
    SPREAD,
    extract,
)
from nur.retrieval.pieces.analyse import analyse, cut, piece_vectors
from nur.retrieval.pieces.atoms import find_atoms
from nur.retrieval.ranking.queries import query_terms, weigh
from nur.retrieval.ranking.rank import ModelEvidence, PieceQuestion, rank
from nur.retrieval.text.analysis import ANALYZER
from tests.candidates import TOKENS, a_candidate

FILLING = "The garden wall leans towards the road and nobody minds."
ROWS = "name,qty,price,shelf\noak,12,4.50,A1\npine,3,2.10,B2\nash,7,3.30,C4\n"
TERMS = weigh(query_terms("When is tea drunk?", ANALYZER), {}, 10)


def a_passage_note(text: str, name: str = "note", *, edges: tuple[int, ...] = (), score: float = 1.0) -> PassageNote:
    """A note in chunks that end at these characters and share nothing."""
    pieces = cut(text)
    bounds = [0, *edges, len(text)]
    chunks = []
    for start, end in pairwise(bounds):
        own = [piece for piece in pieces if start <= piece.start < end]
        analysed = analyse(text, own, "", piece_vectors(text, own, TOKENS), ANALYZER)
        ranked = rank(PieceQuestion("", TERMS, None), [a_candidate(text[start:end])], [], ModelEvidence({}), LOCAL)[0]
        scores = ranked.piece_scores[: len(own)].tolist()
        scores += [0.0] * (len(own) - len(scores))
        chunks.append(PassageChunk(start, text[start:end], analysed.pieces, analysed.atoms, np.array(scores)))
    return PassageNote(name, score, chunks)


@given(
    st.lists(
        st.sampled_from([FILLING, "Tea is drunk at four.", "\n\n", ROWS, "- a list item\n", "日本語の文。"]),
        min_size=1,
        max_size=60,
    ),
    st.integers(50, 2000),
)
def test_passages_are_whole_atoms_with_true_offsets_within_the_budget(parts: list[str], max_chars: int) -> None:
    text = " ".join(parts)
    found = extract([a_passage_note(text)], TERMS, max_chars=max_chars).get("note", [])
    starts = {atom.start + len(s) - len(s.lstrip()) for atom in find_atoms(text) if (s := text[atom.start : atom.end])}
    ends = {atom.start + len(text[atom.start : atom.end].rstrip()) for atom in find_atoms(text)}
    for passage in found:
        assert passage.text == text[passage.start : passage.end]
        assert passage.start in starts
        assert passage.end in ends
    assert sum(len(passage.text) for passage in found) <= max_chars or len(found) == 1


def test_the_sentence_that_answers_is_shown() -> None:
    text = f"{FILLING} " * 40 + "Tea is drunk at four. " + f"{FILLING} " * 40
    best = extract([a_passage_note(text)], TERMS)["note"][0]
    assert "Tea is drunk at four." in best.text


def test_a_note_that_scores_nearly_as_well_keeps_a_passage_of_its_own() -> None:
    much = a_passage_note(("Tea is drunk. " * 5 + f"{FILLING} " * 6) * 10, "much")
    other = a_passage_note(f"{FILLING} " * 20 + "Tea is drunk at four.", "other", score=0.95)
    far = a_passage_note(f"{FILLING} " * 20, "far", score=0.2)
    found = extract([much, other, far], TERMS, max_chars=900)
    assert found["much"]
    assert found["other"]


def test_notes_that_score_alike_share_the_budget() -> None:
    text = "Tea is drunk. " * 5 + f"{FILLING} " * 60
    found = extract([a_passage_note(text, name) for name in ("one", "other")], TERMS, max_chars=1000)
    shown = {name: sum(len(passage.text) for passage in passages) for name, passages in found.items()}
    assert 300 <= shown["one"] <= 600
    assert 300 <= shown["other"] <= 600


def test_a_note_that_leads_by_far_has_the_whole_budget() -> None:
    text = "Tea is drunk. " * 5 + f"{FILLING} " * 60
    notes = [a_passage_note(text, "first"), a_passage_note(text, "far", score=0.7)]
    found = extract(notes, TERMS, max_chars=1000)
    assert "far" not in found
    assert sum(len(passage.text) for passage in found["first"]) > 800


def test_a_note_shows_what_made_it_a_hit() -> None:
    """The best piece is shown even where other sentences have more of the question's words."""
    text = f"{FILLING} " * 12 + "\n\n" + "Tea is drunk. " * 20
    note = a_passage_note(text)
    chunk = note.chunks[0]
    by_meaning = replace(chunk, piece_scores=np.array([1.0, *[0.1] * (len(chunk.piece_scores) - 1)]))
    found = extract([PassageNote("note", 1.0, [by_meaning])], TERMS, max_chars=900)["note"]
    assert any(passage.start == 0 for passage in found)


def test_what_the_chunks_do_not_have_is_not_shown() -> None:
    """A sentence that goes on in a chunk that was not found has no end to show."""
    text = f"{FILLING} " * 5 + "Tea is drunk at four in the garden house. " + FILLING
    cut_at = text.index("garden house")
    note = a_passage_note(text, edges=(cut_at,))
    alone = PassageNote("note", 1.0, note.chunks[:1])
    for passage in extract([alone], TERMS)["note"]:
        assert passage.text.endswith("minds.")
    both = extract([note], TERMS)["note"]
    assert any("garden house." in passage.text for passage in both)


def test_a_first_passage_grows_to_its_size_and_the_next_to_its_own() -> None:
    """Each stops before the sentence that would make it too long; what is left of the budget goes beside the last."""
    gap = f"{FILLING} " * 40
    text = f"{gap}Tea is drunk at four. {gap}Tea is drunk at five. {gap}"
    budget = FIRST_PASSAGE + NEXT_PASSAGES
    found = extract([a_passage_note(text)], TERMS, max_chars=budget)["note"]
    first, following = sorted((len(passage.text) for passage in found), reverse=True)
    assert FIRST_PASSAGE - len(FILLING) - 2 < first <= FIRST_PASSAGE
    assert NEXT_PASSAGES - len(FILLING) - 2 < following <= budget - first


def test_a_passage_takes_in_the_better_neighbour_first() -> None:
    long = "The garden wall leans towards the road and the gate beside it is seldom shut by anyone who passes. "
    text = long * 30 + "When is tea drunk? " + "Tea is drunk often. " * 10 + long * 30
    best = extract([a_passage_note(text)], TERMS, max_chars=200)["note"][0]
    assert best.text.count("Tea is drunk often.") >= 7
    assert "garden" not in best.text


def test_passages_that_touch_become_one_with_the_better_score() -> None:
    text = "Tea is drunk at four. " + f"{FILLING} " * 14 + "When is tea drunk? " + f"{FILLING} " * 40
    found = extract([a_passage_note(text)], TERMS)["note"]
    spans = sorted((passage.start, passage.end) for passage in found)
    assert all(end + 1 < start for (_, end), (start, _) in pairwise(spans))
    assert found[0].score == max(passage.score for passage in found)
    assert [passage.score for passage in found] == sorted((passage.score for passage in found), reverse=True)


@pytest.mark.parametrize(
    ("behind", "share"),
    [
        (0.0, 1 / 2),
        (SPREAD, 1 / (1 + math.e)),
        (2 * SPREAD, 1 / (1 + math.e**2)),
        (2.9 * SPREAD, MIN_FIRST_PASSAGE / 2000),  # e**-2.9 = .055: just enough for a first passage
        (3.1 * SPREAD, 0.0),  # e**-3.1 = .045
    ],
)
def test_a_note_behind_has_its_share_of_the_budget(behind: float, share: float) -> None:
    text = "Tea is drunk. " * 300
    notes = [a_passage_note(text, "best"), a_passage_note(text, "other", score=1.0 - behind)]
    found = extract(notes, TERMS, max_chars=2000)
    shown = {name: sum(len(passage.text) + 1 for passage in passages) for name, passages in found.items()}
    assert shown.get("other", 0) == pytest.approx(2000 * share, abs=15)
    own_share = 1 - 1 / (1 + math.e ** (behind / SPREAD)) if share else 1.0
    assert shown["best"] == pytest.approx(2000 * own_share, abs=15)


def test_what_is_left_of_a_budget_is_not_filled_with_stumps() -> None:
    """Only "No." and "Yes." fit into the rest of the budget, between sentences that are too long for it."""
    long = "Whoever drinks tea in the afternoon puts the milk in first, and stirs it twice or three times. "
    text = "".join(long * 3 + short for short in ("No.\n\n", "Yes.\n\n") * 6)
    found = extract([a_passage_note(text, "tea")], TERMS, max_chars=700)["tea"]
    assert found
    assert min(len(passage.text) for passage in found) >= MIN_PASSAGE


def test_a_short_note_may_have_a_short_passage() -> None:
    found = extract([a_passage_note("Tea. Milk.", "tea")], TERMS, max_chars=700)["tea"]
    assert [passage.text for passage in found] == ["Tea. Milk."]
