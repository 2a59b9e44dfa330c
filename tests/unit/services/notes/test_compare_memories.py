"""What a memory is compared with, and what is suggested for review."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

from nur.domain.access import Principal
from nur.domain.decisions import Relation
from nur.domain.filters import PrivacyFilter
from nur.domain.notes import Kind, NoteId, Status
from nur.ports.decisions import AlikeMemory
from nur.services.notes.compare_memories import CompareMemories, similar_memory
from tests.doubles.clock import ManualClock
from tests.store_notes import START, a_note

TEXT = "The green lamp hangs in the long hall."
ANN = Principal("ann", "default")
COMPARE = CompareMemories(cast("Any", None), PrivacyFilter(enforced=True), ManualClock())


def alike(text: str = TEXT, days: int = 0) -> AlikeMemory:
    note = a_note(text)
    return AlikeMemory(note.note_id, note.public_id, "hash", START + timedelta(days=days), text)


def test_only_active_memories_are_compared() -> None:
    note = a_note(TEXT)
    assert COMPARE.comparison(note, TEXT, ANN) is not None
    assert COMPARE.comparison(replace(note, kind=Kind.NOTE), TEXT, ANN) is None
    assert COMPARE.comparison(replace(note, status=Status.DELETED), TEXT, ANN) is None
    assert COMPARE.comparison(note, "", ANN) is None


def test_a_memory_is_compared_with_eight_of_its_project_that_its_writer_may_see() -> None:
    found = COMPARE.comparison(a_note(TEXT, project="nur"), TEXT, ANN)
    assert found is not None
    assert found.limit == 8
    assert (found.where.tenant, found.where.project, found.where.visible_to) == ("default", "nur", "ann")
    assert found.where.kinds == {Kind.MEMORY}


def test_the_first_three_that_are_related_are_suggested() -> None:
    note = a_note(TEXT)
    comparison = COMPARE.comparison(note, TEXT, ANN)
    assert comparison is not None
    others = [alike("Nobody fed the cat on Tuesday."), *(alike() for _ in range(4))]
    found = comparison.rule(others)
    assert [one.other for one in found] == others[1:4]
    assert {one.suggestion.relation for one in found} == {Relation.SAME}
    shown = similar_memory(found[0])
    assert (shown.public_id, shown.text) == (others[1].public_id, TEXT)


def test_the_one_that_was_said_later_is_the_newer() -> None:
    note = a_note(TEXT, occurred_at=START)
    comparison = COMPARE.comparison(note, TEXT, ANN)
    assert comparison is not None
    for days, is_newer in ((-1, True), (0, True), (1, False)):
        other = alike(days=days)
        [found] = comparison.rule([other])
        pair = found.suggestion.pair
        expected: tuple[NoteId, NoteId] = (note.note_id, other.note_id)
        assert (pair.newer, pair.older) == (expected if is_newer else expected[::-1])
        hashes = (found.suggestion.newer_hash, found.suggestion.older_hash)
        assert hashes == ((note.content_hash, "hash") if is_newer else ("hash", note.content_hash))
