"""Selections in Chroma's language."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nur.adapters.chroma import collections as names
from nur.adapters.chroma import where
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EPOCH = NOW.timestamp()


@pytest.mark.parametrize(
    ("asked", "collection", "expected"),
    [
        ({}, names.MEMORY, []),  # nothing asked, nothing sent: an always-true clause costs most of all
        ({"type": "fact"}, names.MEMORY, [{"type": "fact"}]),
        ({"source_system": "gmail"}, names.ARTIFACTS, [{"source_system": "gmail"}]),
        ({"sensitivity": "normal"}, names.ARTIFACTS, [{"sensitivity": "normal"}]),
        ({"visibility": "team"}, names.ARTIFACTS, [{"visibility_scope": "team"}]),
        (
            {"project": "", "agent": "a", "scope": "s"},  # "" is asked for, None is not
            names.NOTES,
            [{"project": ""}, {"agent": "a"}, {"scope": "s"}],
        ),
        (
            {"min_confidence": 1},  # a float even so: Chroma compares integers with integers
            names.MEMORY,
            [{"$or": [{"confidence": {"$gte": 1.0}}, {"has_confidence": False}]}],
        ),
        (
            {"occurred_from": NOW, "occurred_to": NOW + timedelta(seconds=1.5)},
            names.MEMORY,
            [{"ts_epoch": {"$gte": EPOCH}}, {"ts_epoch": {"$lte": EPOCH + 1.5}}],
        ),
        ({"conversation_id": "c"}, names.HISTORY, [{"conversation_id": "c"}]),
        ({"conversation_id": "c"}, names.MEMORY, []),  # a conversation limits turns alone
        ({"kinds": frozenset({Kind.EVENT})}, names.NOTES, [{"kind": "event"}]),
        ({"kinds": frozenset({Kind.NOTE})}, names.NOTES, [{"kind": "note"}]),
        ({"kinds": frozenset({Kind.NOTE, Kind.EVENT})}, names.NOTES, []),
    ],
)
def test_what_is_asked(asked: dict[str, Any], collection: str, expected: list[where.Clause]) -> None:
    assert where.asked(NoteFilter(**asked), collection) == expected


def test_numbers_are_floats_whatever_was_given() -> None:
    (clause,) = where.asked(NoteFilter(min_confidence=1), names.MEMORY)
    assert isinstance(clause["$or"][0]["confidence"]["$gte"], float)  # type: ignore[index]


def test_parents_are_left_out_where_they_are() -> None:
    tenant = {"tenant": "acme"}
    expiry = {"expires_epoch": {"$gt": EPOCH}}
    assert where.standing(NoteFilter(tenant="acme"), names.MEMORY, NOW) == [tenant, expiry]
    assert where.standing(NoteFilter(tenant="acme"), names.ARTIFACTS, NOW) == [tenant, expiry, {"is_chunked": False}]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"tenant": "default", "expires_epoch": EPOCH + 1}, True),
        ({"tenant": "default", "expires_epoch": EPOCH + 1, "is_chunked": False}, True),
        ({"tenant": "default", "expires_epoch": EPOCH + 1, "is_chunked": True}, False),  # a parent
        ({"tenant": "default", "expires_epoch": EPOCH}, False),  # expired this moment
        ({"tenant": "acme", "expires_epoch": EPOCH + 1}, False),
        ({"expires_epoch": EPOCH + 1}, False),  # not a record of ours
        ({"tenant": "default"}, False),
    ],
)
def test_what_stands(metadata: dict[str, object], expected: bool) -> None:
    assert where.stands(metadata, NoteFilter(), NOW) is expected


def test_one_clause_stands_alone_and_none_is_none() -> None:
    assert where.conjunction([]) is None
    assert where.conjunction([{"a": 1}]) == {"a": 1}
    assert where.conjunction([{"a": 1}, {"b": 2}]) == {"$and": [{"a": 1}, {"b": 2}]}
