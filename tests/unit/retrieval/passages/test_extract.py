from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nur.retrieval.calibration import LOCAL
from nur.retrieval.passages.atoms import PassageChunk, PassageNote
from nur.retrieval.passages.extract import extract
from nur.retrieval.pieces.analyse import analyse, piece_vectors
from nur.retrieval.pieces.atoms import find_atoms
from nur.retrieval.pieces.cut import cut
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
    found = extract([a_passage_note(text)], TERMS, best_lexical=0.5, max_chars=max_chars).get("note", [])
    starts = {atom.start + len(s) - len(s.lstrip()) for atom in find_atoms(text) if (s := text[atom.start : atom.end])}
    ends = {atom.start + len(text[atom.start : atom.end].rstrip()) for atom in find_atoms(text)}
    for passage in found:
        assert passage.text == text[passage.start : passage.end]
        assert passage.start in starts
        assert passage.end in ends
    assert sum(len(passage.text) for passage in found) <= max_chars or len(found) == 1


def test_the_sentence_that_answers_is_shown() -> None:
    text = f"{FILLING} " * 40 + "Tea is drunk at four. " + f"{FILLING} " * 40
    best = extract([a_passage_note(text)], TERMS, best_lexical=0.5)["note"][0]
    assert "Tea is drunk at four." in best.text


def test_a_note_that_scores_nearly_as_well_keeps_a_passage_of_its_own() -> None:
    much = a_passage_note(("Tea is drunk. " * 5 + f"{FILLING} " * 6) * 10, "much")
    other = a_passage_note(f"{FILLING} " * 20 + "Tea is drunk at four.", "other", score=0.95)
    far = a_passage_note(f"{FILLING} " * 20, "far", score=0.2)
    found = extract([much, other, far], TERMS, best_lexical=0.5, max_chars=900)
    assert found["much"]
    assert found["other"]


def test_notes_that_score_alike_share_the_budget() -> None:
    text = "Tea is drunk. " * 5 + f"{FILLING} " * 60
    found = extract([a_passage_note(text, name) for name in ("one", "other")], TERMS, best_lexical=0.5, max_chars=1000)
    shown = {name: sum(len(passage.text) for passage in passages) for name, passages in found.items()}
    assert 300 <= shown["one"] <= 600
    assert 300 <= shown["other"] <= 600


def test_a_note_that_leads_by_far_has_the_whole_budget() -> None:
    text = "Tea is drunk. " * 5 + f"{FILLING} " * 60
    notes = [a_passage_note(text, "first"), a_passage_note(text, "far", score=0.7)]
    found = extract(notes, TERMS, best_lexical=0.5, max_chars=1000)
    assert "far" not in found
    assert sum(len(passage.text) for passage in found["first"]) > 800


def test_a_note_shows_what_made_it_a_hit() -> None:
    """The best piece is shown even where other sentences have more of the question's words."""
    text = f"{FILLING} " * 12 + "\n\n" + "Tea is drunk. " * 20
    note = a_passage_note(text)
    chunk = note.chunks[0]
    by_meaning = replace(chunk, piece_scores=np.array([1.0, *[0.1] * (len(chunk.piece_scores) - 1)]))
    found = extract([PassageNote("note", 1.0, [by_meaning])], TERMS, best_lexical=0.5, max_chars=900)["note"]
    assert any(passage.start == 0 for passage in found)


def test_what_the_chunks_do_not_have_is_not_shown() -> None:
    """A sentence that goes on in a chunk that was not found has no end to show."""
    text = f"{FILLING} " * 5 + "Tea is drunk at four in the garden house. " + FILLING
    cut_at = text.index("garden house")
    note = a_passage_note(text, edges=(cut_at,))
    alone = PassageNote("note", 1.0, note.chunks[:1])
    for passage in extract([alone], TERMS, best_lexical=0.5)["note"]:
        assert passage.text.endswith("minds.")
    both = extract([note], TERMS, best_lexical=0.5)["note"]
    assert any("garden house." in passage.text for passage in both)
