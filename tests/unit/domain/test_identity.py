"""What makes two writes the same note: `docs/adr/0004-identity.md` holds the table."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.domain.chunks import sha256
from nur.domain.kinds import identity
from nur.domain.notes import Kind, NoteMetadata

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FULL = NoteMetadata(
    key="rel",
    source_system="github",
    source_id="issues/5",
    conversation_id="c",
    turn_index=1,
    project="p",
    occurred_at=NOON,
)

names = st.one_of(st.none(), st.sampled_from(["", "key", "note key", "a:b", '"', "event"]), st.text(max_size=5))
texts = st.sampled_from(["", "key", "p"])
descriptions = st.builds(
    NoteMetadata,
    key=names,
    source_system=names,
    source_id=names,
    conversation_id=names,
    turn_index=st.one_of(st.none(), st.integers(0, 2)),
    project=texts,
    agent=texts,
    scope=texts,
    occurred_at=st.sampled_from([None, NOON]),
)


def name_of(kind: Kind, meta: NoteMetadata, text: str = "Tea at four.", owner: str = "local") -> str:
    return identity(kind, owner, meta, sha256(text))


@given(st.lists(descriptions, min_size=2, max_size=2), st.sampled_from(["local", "key"]))
def test_notes_of_two_kinds_are_never_the_same(abouts: list[NoteMetadata], owner: str) -> None:
    first, second = abouts
    for one, other in combinations(Kind, 2):
        assert name_of(one, first, owner=owner) != name_of(other, second, owner=owner)
        assert name_of(one, first, owner=owner) != name_of(other, first, owner=owner)


@pytest.mark.parametrize(
    ("kind", "without", "change", "is_same"),
    [
        (Kind.NOTE, {}, {"source_id": "issues/6"}, True),  # a key comes first
        (Kind.NOTE, {}, {"key": "other"}, False),
        (Kind.NOTE, {}, {"project": "q"}, False),  # a key is a name within its project
        (Kind.NOTE, {"key": None}, {"project": "q"}, True),  # then the source, wherever it is filed
        (Kind.NOTE, {"key": None}, {"source_id": "issues/6"}, False),
        (Kind.NOTE, {"key": None}, {"source_system": "gitlab"}, False),
        (Kind.NOTE, {"key": None, "source_id": None}, {"source_system": "gitlab"}, True),  # then the text
        (Kind.EVENT, {}, {"occurred_at": None}, True),
        (Kind.EVENT, {"key": None}, {"source_id": "issues/6"}, True),  # one source has many events
        (Kind.EVENT, {"key": None}, {"occurred_at": None}, False),
        (Kind.MEMORY, {"key": None}, {"source_id": "issues/6"}, True),
        (Kind.ARTIFACT, {}, {"source_id": "issues/6"}, False),
        (Kind.TURN, {}, {"turn_index": 2}, False),
        (Kind.TURN, {}, {"key": "other", "source_id": "x"}, True),
    ],
)
def test_the_same_text_is_the_same_note(
    kind: Kind, without: dict[str, Any], change: dict[str, Any], is_same: bool
) -> None:
    meta = replace(FULL, **without)
    assert (name_of(kind, meta) == name_of(kind, replace(meta, **change))) is is_same


@pytest.mark.parametrize(
    ("kind", "without", "is_same"),
    [
        (Kind.NOTE, {}, True),
        (Kind.NOTE, {"key": None}, True),
        (Kind.NOTE, {"key": None, "source_id": None}, False),
        (Kind.EVENT, {}, True),
        (Kind.EVENT, {"key": None}, False),
        (Kind.MEMORY, {"key": None}, False),
        (Kind.ARTIFACT, {}, True),
        (Kind.ARTIFACT, {"source_id": None}, False),
        (Kind.TURN, {}, True),
    ],
)
def test_another_text_is_the_same_note_where_something_else_names_it(
    kind: Kind, without: dict[str, Any], is_same: bool
) -> None:
    meta = replace(FULL, **without)
    assert (name_of(kind, meta) == name_of(kind, meta, "Tea at five.")) is is_same
