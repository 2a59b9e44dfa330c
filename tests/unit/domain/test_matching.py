"""The rule of selection; `tests/contract/test_vector_index.py` holds the table every index shares with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nur.domain.filters import NoteFilter
from nur.domain.matching import matches
from nur.domain.notes import Kind, Status
from tests.index_notes import NOW, a_note

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("about", "asked", "expected"),
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
        ({"conversation_id": "c1"}, {"conversation_id": "c2"}, True),  # a memory: conversations limit turns alone
        ({}, {"kinds": frozenset({Kind.TURN})}, False),
    ],
)
def test_a_memory(meta: dict[str, Any], asked: dict[str, Any], expected: bool) -> None:
    assert matches(a_note(1, **meta), NoteFilter(**asked), NOW) is expected


@pytest.mark.parametrize(("conversation", "expected"), [("c1", True), ("c2", False)])
def test_a_turn_must_be_of_the_conversation(conversation: str, expected: bool) -> None:
    turn = a_note(1, Kind.TURN, conversation_id="c1")
    assert matches(turn, NoteFilter(conversation_id=conversation), NOW) is expected


def test_the_trash_is_never_selected() -> None:
    assert not matches(replace(a_note(1), status=Status.DELETED), NoteFilter(), NOW)
