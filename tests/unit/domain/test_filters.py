"""Which notes pass a filter; `tests/contract/test_note_filter.py` compares every engine with this definition."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nur.domain.access import DEFAULT_TENANT
from nur.domain.filters import NoteFilter, matches
from nur.domain.notes import Kind, Status, Visibility
from tests.index_notes import NOW, a_note

ALL = NoteFilter(tenant=DEFAULT_TENANT)
SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("meta", "asked", "expected"),
    [
        ({}, {}, True),
        ({"tenant": "acme"}, {}, False),
        ({"expires_at": NOW}, {}, False),  # the moment itself is too late
        ({"expires_at": NOW + SECOND}, {}, True),
        ({"confidence": 0.7}, {"min_confidence": 0.7}, True),
        ({"confidence": 0.6}, {"min_confidence": 0.7}, False),
        ({"confidence": None}, {"min_confidence": 0.7}, True),
        ({"occurred_at": NOW}, {"occurred_from": NOW, "occurred_to": NOW}, True),  # both ends are included
        ({"occurred_at": NOW - SECOND}, {"occurred_from": NOW}, False),
        ({"occurred_at": NOW + SECOND}, {"occurred_to": NOW}, False),
        ({"occurred_at": None}, {"occurred_to": NOW}, False),  # nobody knows when: not within
        ({"type": "fact"}, {"type": "fact"}, True),
        ({"type": None}, {"type": "fact"}, False),
        ({"project": "nur"}, {"project": ""}, False),  # "" asks for notes of no project
        ({"project": "nur", "agent": "a", "scope": "s"}, {"project": "nur", "agent": "a", "scope": "s"}, True),
        ({"project": "nur", "agent": "a", "scope": "s"}, {"project": "nur", "agent": "b"}, False),
        ({"source_system": "gmail"}, {"source_system": "slack"}, False),
        ({}, {"sensitivity": "sensitive"}, False),
        ({}, {"visibility": "me"}, True),
        ({"visibility": Visibility.TEAM}, {"visibility": "me"}, False),
        ({"source_system": "gmail"}, {"source_system": "Gmail"}, False),  # names are compared as they are
        ({"type": "fact"}, {"type": "fact", "project": "nur"}, False),  # all conditions must hold
        ({}, {"kinds": frozenset()}, False),  # nothing has no kind
        ({"conversation_id": "c1"}, {"conversation_id": "c2"}, True),  # a memory: conversations limit turns alone
        ({}, {"kinds": frozenset({Kind.TURN})}, False),
    ],
)
def test_a_memory(meta: dict[str, Any], asked: dict[str, Any], expected: bool) -> None:
    assert matches(a_note(1, **meta), replace(ALL, **asked), NOW) is expected


@pytest.mark.parametrize(("conversation", "expected"), [("c1", True), ("c2", False)])
def test_a_turn_must_be_of_the_conversation(conversation: str, expected: bool) -> None:
    turn = a_note(1, Kind.TURN, conversation_id="c1")
    assert matches(turn, replace(ALL, conversation_id=conversation), NOW) is expected


def test_the_trash_never_passes() -> None:
    assert not matches(replace(a_note(1), status=Status.DELETED), ALL, NOW)


@pytest.mark.parametrize(
    ("visibility", "seen_by_others"),
    [(Visibility.ME, False), (Visibility.CUSTOM, False), (Visibility.TEAM, True), (Visibility.ORG, True)],
)
def test_a_note_is_visible_to_its_owner_and_when_shared_to_others(visibility: Visibility, seen_by_others: bool) -> None:
    note = replace(a_note(1, visibility=visibility), owner="ann")
    assert matches(note, ALL, NOW)  # nobody in particular asks
    assert matches(note, replace(ALL, visible_to="ann"), NOW)
    assert matches(note, replace(ALL, visible_to="bob"), NOW) is seen_by_others


def test_the_edges_of_a_range_count_to_the_microsecond() -> None:
    since, until = replace(ALL, occurred_from=NOW), replace(ALL, occurred_to=NOW)
    before, behind = a_note(1, occurred_at=NOW - MICROSECOND), a_note(2, occurred_at=NOW + MICROSECOND)
    assert [matches(note, since, NOW) for note in (before, behind)] == [False, True]
    assert [matches(note, until, NOW) for note in (before, behind)] == [True, False]
