"""Filters in Chroma's language."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nur.adapters.chroma import collections as names
from nur.adapters.chroma import where
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind
from tests.index_backends import ALL

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EPOCH = NOW.timestamp()


@pytest.mark.parametrize(
    ("asked", "collection", "expected"),
    [
        ({}, "memory", []),  # nothing asked, nothing sent: an always-true clause costs most of all
        ({"type": "fact"}, "memory", [{"type": "fact"}]),
        ({"source_system": "gmail"}, names.ARTIFACTS, [{"source_system": "gmail"}]),
        ({"sensitivity": "normal"}, names.ARTIFACTS, [{"sensitivity": "normal"}]),
        ({"visibility": "team"}, names.ARTIFACTS, [{"visibility_scope": "team"}]),
        (
            {"project": "", "agent": "a", "scope": "s"},  # "" is asked for, None is not
            "notes",
            [{"project": ""}, {"agent": "a"}, {"scope": "s"}],
        ),
        (
            {"min_confidence": 1},  # a float even so: Chroma compares integers with integers
            "memory",
            [{"$or": [{"confidence": {"$gte": 1.0}}, {"has_confidence": False}]}],
        ),
        (
            {"occurred_from": NOW, "occurred_to": NOW + timedelta(seconds=1.5)},
            "memory",
            [{"ts_epoch": {"$gte": EPOCH}}, {"ts_epoch": {"$lte": EPOCH + 1.5}}],
        ),
        ({"conversation_id": "c"}, "history", [{"conversation_id": "c"}]),
        ({"conversation_id": "c"}, "memory", []),  # a conversation limits turns alone
        ({"kinds": frozenset({Kind.EVENT})}, "notes", [{"kind": {"$in": ["event"]}}]),
        ({"kinds": frozenset({Kind.NOTE})}, "notes", [{"kind": {"$in": ["note"]}}]),
        ({"kinds": frozenset({Kind.NOTE, Kind.EVENT})}, "notes", []),
        (
            {"visible_to": "ann"},  # what is shared, and Ann's own
            "memory",
            [{"$or": [{"visibility_scope": {"$in": ["org", "team"]}}, {"owner": "ann"}]}],
        ),
    ],
)
def test_what_is_asked(asked: dict[str, Any], collection: str, expected: list[where.Clause]) -> None:
    assert where.selective(replace(ALL, **asked), collection) == expected


def test_numbers_are_floats_whatever_was_given() -> None:
    (clause,) = where.selective(replace(ALL, min_confidence=1), "memory")
    assert isinstance(clause["$or"][0]["confidence"]["$gte"], float)  # type: ignore[index]


def test_parents_are_left_out_where_they_are() -> None:
    tenant = {"tenant": "acme"}
    expiry = {"expires_epoch": {"$gt": EPOCH}}
    assert where.common(NoteFilter(tenant="acme"), "memory", NOW) == [tenant, expiry]
    assert where.common(NoteFilter(tenant="acme"), names.ARTIFACTS, NOW) == [tenant, expiry, {"is_chunked": False}]


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
    assert where.passes_common(metadata, ALL, NOW) is expected


def test_one_clause_stands_alone_and_none_is_none() -> None:
    assert where.conjunction([]) is None
    assert where.conjunction([{"a": 1}]) == {"a": 1}
    assert where.conjunction([{"a": 1}, {"b": 2}]) == {"$and": [{"a": 1}, {"b": 2}]}
