"""Masks over filter columns."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nur.adapters.flat.filters import Columns, Vocabulary
from nur.domain.filters import NoteFilter
from nur.domain.matching import matches
from nur.domain.notes import Kind, Note, Sensitivity, Visibility
from tests.index_notes import NOW, a_note

WORDS = st.sampled_from(["", "a", "b"])
PERHAPS_WORDS = st.none() | WORDS
MOMENTS = st.integers(-2, 2).map(lambda hours: NOW + timedelta(hours=hours))
CONFIDENCES = st.none() | st.sampled_from([0.0, 0.5, 1.0])


@st.composite
def notes(draw: st.DrawFn) -> Note:
    meta: dict[str, Any] = {
        "type": draw(PERHAPS_WORDS),
        "confidence": draw(CONFIDENCES),
        "source_system": draw(PERHAPS_WORDS),
        "conversation_id": draw(PERHAPS_WORDS),
        "project": draw(WORDS),
        "agent": draw(WORDS),
        "scope": draw(WORDS),
        "sensitivity": draw(st.sampled_from(Sensitivity)),
        "visibility": draw(st.sampled_from(Visibility)),
        "occurred_at": draw(st.none() | MOMENTS),
        "expires_at": draw(st.none() | MOMENTS),
        "tenant": draw(st.sampled_from(["default", "acme"])),
    }
    return a_note(1, draw(st.sampled_from(Kind)), **meta)


selections = st.builds(
    NoteFilter,
    tenant=st.sampled_from(["default", "acme", "nobody"]),
    kinds=st.frozensets(st.sampled_from(Kind)) | st.just(frozenset(Kind)),
    type=PERHAPS_WORDS,
    min_confidence=CONFIDENCES,
    conversation_id=st.none() | st.sampled_from(["a", "nobody's"]),
    source_system=PERHAPS_WORDS,
    sensitivity=st.none() | st.sampled_from(["normal", "sensitive"]),
    visibility=st.none() | st.sampled_from(["me", "team"]),
    occurred_from=st.none() | MOMENTS,
    occurred_to=st.none() | MOMENTS,
    project=PERHAPS_WORDS,
    agent=PERHAPS_WORDS,
    scope=PERHAPS_WORDS,
)


@given(st.lists(notes(), max_size=8), selections, MOMENTS)
def test_the_mask_is_what_matching_says(stored: list[Note], where: NoteFilter, now: datetime) -> None:
    vocabulary, columns = Vocabulary(), Columns(8)
    for row, note in enumerate(stored):
        columns.write(row, note, vocabulary)
    mask = columns.mask(vocabulary.condition(where, now), len(stored))
    assert mask.tolist() == [matches(note, where, now) for note in stored]


def test_a_row_that_is_written_again_forgets_what_it_was() -> None:
    vocabulary, columns = Vocabulary(), Columns(1)
    columns.write(0, a_note(1, type="fact", confidence=0.1, expires_at=NOW), vocabulary)
    columns.write(0, a_note(2), vocabulary)
    assert columns.mask(vocabulary.condition(NoteFilter(min_confidence=0.9), NOW), 1).tolist() == [True]
    assert columns.mask(vocabulary.condition(NoteFilter(type="fact"), NOW), 1).tolist() == [False]
