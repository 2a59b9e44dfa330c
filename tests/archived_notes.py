"""Hypothesis strategies for exported notes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from nur.domain.archive import ArchivedNote, NoteVersion
from nur.domain.chunks import sha256
from nur.domain.notes import Kind, Note, NoteId, NoteMetadata, Retention, Sensitivity, Status, Visibility

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

letters = st.characters(codec="utf-8", exclude_characters="\0")
names = st.text(letters, max_size=20)
texts = st.text(letters, min_size=1, max_size=80).filter(str.strip)
moments = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
shares = st.floats(0, 1)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)
descriptions = st.builds(
    NoteMetadata,
    type=st.none() | names,
    confidence=st.none() | shares,
    importance=st.none() | shares,
    title=st.none() | names,
    author=st.none() | names,
    participants=st.lists(names, max_size=3).map(tuple),
    source_system=st.none() | names,
    source_id=st.none() | names,
    source_url=st.none() | st.just("https://example.com/page"),
    conversation_id=names,
    turn_index=st.integers(0, 2**63 - 1),
    role=st.none() | names,
    key=st.none() | names,
    project=names,
    agent=names,
    scope=names,
    sensitivity=st.sampled_from(Sensitivity),
    visibility=st.sampled_from(Visibility),
    retention=st.sampled_from(Retention),
    occurred_at=moments,
    expires_at=st.none() | moments,
    metadata=st.dictionaries(names, values, max_size=3),
)


@st.composite
def archived_notes(draw: DrawFn) -> ArchivedNote:
    """A note of any kind, active or in the trash, with some previous versions of its text."""
    text, version = draw(texts), draw(st.integers(1, 30))
    numbers = sorted(draw(st.sets(st.integers(1, version - 1), max_size=3))) if version > 1 else []
    status = draw(st.sampled_from(Status))
    note = Note(
        note_id=NoteId(draw(st.uuids())),
        public_id=draw(names.filter(bool)),
        owner=draw(names),
        kind=draw(st.sampled_from(Kind)),
        meta=draw(descriptions),
        content_hash=sha256(text),
        version=version,
        revision=version + draw(st.integers(0, 5)),
        status=status,
        ingested_at=draw(moments),
        updated_at=draw(moments),
        deleted_at=draw(moments) if status is Status.DELETED else None,
        resolved_at=draw(st.none() | moments),
        tenant="",
        token_count=0,
        chunk_count=0,
        chunking_version="",
    )
    return ArchivedNote(note, text, tuple(draw(_versions(number)) for number in numbers))


@st.composite
def _versions(draw: DrawFn, number: int) -> NoteVersion:
    text = draw(texts)
    return NoteVersion(
        version=number,
        content_hash=sha256(text),
        title=draw(st.none() | names),
        replaced_at=draw(moments),
        text=text,
    )
