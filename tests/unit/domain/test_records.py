"""Records: what is written is read back, and what cannot be stored is refused by its field."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given

from nur.domain.archive import ArchivedNote, NewNote
from nur.domain.errors import BadRequest
from nur.domain.notes import Kind, Note, NoteMetadata
from nur.domain.record_fields import METADATA, NOTE
from nur.domain.records import End, Header, decode, encode, encode_new, end, header
from nur.domain.writes import Protection
from tests.archived_notes import archived_notes
from tests.store_notes import a_note

DERIVED = {"tenant", "token_count", "chunk_count", "chunking_version", "heading"}


@given(archived_notes())
def test_a_note_comes_back_as_it_was(archived: ArchivedNote) -> None:
    line = encode(archived)
    assert line.count(b"\n") == 1
    assert decode(line) == archived
    assert encode(archived) == line


def test_every_field_of_a_note_is_part_of_its_record() -> None:
    assert set(METADATA) == {field.name for field in fields(NoteMetadata)}
    assert set(NOTE) == {field.name for field in fields(Note)} - DERIVED | {"text", "versions"}


def test_the_first_and_the_last_line() -> None:
    assert json.loads(header()) == {"type": "header", "format": "nur-export", "format_version": 1}
    assert decode(header()) == Header()
    assert decode(end(3)) == End(3)


def test_a_new_note_comes_back_as_it_was() -> None:
    meta = NoteMetadata(type="fact", confidence=0.5, metadata={"tags": ["a"]})
    new = NewNote(kind=Kind.MEMORY, text="Tea.", meta=meta, stated=Protection())
    assert decode(encode_new(new)) == new


def a_record(**changes: Any) -> bytes:
    values = json.loads(encode(ArchivedNote(a_note(), "Tea is drunk at four.")))
    return json.dumps({name: value for name, value in {**values, **changes}.items() if value != "absent"}).encode()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),  # deeper than Python recurses
        (b"[" + b"1," * 100_000 + b"1]", "holds more than 100000 values"),  # would cost gigabytes as a record
        (b"7", "must be a JSON object with a type"),
        (b'{"type": "entity", "name": "x"}', "type: 'entity' is not one that this program knows"),
        (b'{"type": "header", "format": "nur-export", "format_version": 2}', "format_version: this program reads 1"),
        (b'{"type": "header", "format": "other"}', "format: must be nur-export"),
        (a_record(text="absent"), "kind and text: a note needs both"),
        (a_record(text=" \n"), "text: must be a string that is not blank"),
        (a_record(text="a\0b"), "a text contains a NUL character"),
        (a_record(text="a\ud800b"), "a text contains half a character"),
        (a_record(text="Coffee."), "content_hash: the text is not the one that was exported"),
        (a_record(colour="red"), "colour: there is no such field"),
        (a_record(meta={"colour": "red"}), "meta.colour: there is no such field"),
        (a_record(meta={"confidence": 2}), "meta.confidence: must be a number between 0 and 1"),
        (a_record(meta={"source_url": "javascript:alert(1)"}), "meta.source_url: must be a URL"),
        (a_record(kind="turn"), "meta: a turn needs conversation_id and turn_index"),
        (a_record(revision=0), "revision: must be a whole number, at least 1"),
        (a_record(revision=True), "revision: must be a whole number, at least 1"),
        (a_record(ingested_at="2026-01-05T09:30:00"), "ingested_at: must be a time with its zone"),
        (a_record(owner="absent"), "owner: is missing"),
        (a_record(status="deleted"), "deleted_at: must be set for a note in the trash"),
        (a_record(versions=[{"version": 1, "replaced_at": "2026-01-05T09:30:00Z", "text": "x"}]), "versions: must be"),
        (a_record(note_id="absent"), "content_hash: only a note with a note_id may have this field"),
        (b'{"type":"note","kind":"memory","text":"x","meta":{"type":"whim"}}', "meta.type: must be one of: preference"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_its_field(line: bytes, reason: str) -> None:
    with pytest.raises(BadRequest) as refused:
        decode(line)
    assert str(refused.value).startswith(reason)
