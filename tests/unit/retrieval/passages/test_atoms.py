"""Atoms of notes, compared with what their texts hold."""

from __future__ import annotations

from collections import Counter

import pytest

from nur.retrieval.passages.atoms import gather
from nur.retrieval.ranking.queries import query_terms, weigh
from nur.retrieval.text.analysis import ANALYZER, term_id
from tests.unit.retrieval.passages.test_extract import FILLING, TERMS, a_passage_note

TEXT = f"Tea is drunk at four. {FILLING} Tea, tea and more tea! {FILLING}\n\nIt was drunk cold. {FILLING}"


@pytest.mark.parametrize("question", ["When is tea drunk?", "garden", "tea"])
def test_each_atom_counts_the_questions_terms_that_its_text_has(question: str) -> None:
    terms = weigh(query_terms(question, ANALYZER), {}, 10)
    found = gather([a_passage_note(TEXT), a_passage_note(f"{FILLING} Tea at last.", "other")], terms)
    assert found.counts.sum() > 0
    texts = [TEXT, f"{FILLING} Tea at last."]
    for at in range(len(found)):
        own = texts[found.notes[at]][found.starts[at] : found.ends[at]]
        counted = Counter(term_id(term) for term in ANALYZER.terms(own))
        assert found.counts[at].tolist() == [counted[int(term)] for term in terms.ids], own


def test_atoms_that_follow_each_other_are_one_run_and_notes_are_apart() -> None:
    found = gather([a_passage_note(TEXT), a_passage_note(TEXT, "other")], TERMS)
    half = len(found) // 2
    assert found.runs.tolist() == [found.runs[0]] * half + [found.runs[half]] * half
    assert found.runs[0] != found.runs[half]
    assert (found.starts[1:half] == found.ends[: half - 1]).all()
