"""Notes as Markdown files: out, back, and through git."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml
from hypothesis import given

from nur.adapters.markdown.notes import parse, path_of, render
from nur.domain.notes import Kind
from tests.archived_notes import archived_notes

if TYPE_CHECKING:
    from nur.domain.archive import ArchivedNote
    from nur.domain.notes import Note


@given(archived_notes())
def test_a_note_comes_back_as_it_was(archived: ArchivedNote) -> None:
    content = render(archived)
    found = parse(content)
    assert found is not None
    assert (found.text, found.note) == (archived.text, archived.note)  # type: ignore[union-attr]


@given(archived_notes())
def test_the_front_matter_is_yaml(archived: ArchivedNote) -> None:
    head = render(archived).decode().split("\n---\n", 1)[0].removeprefix("---\n")
    values = yaml.safe_load(head)
    assert values["public_id"] == archived.note.public_id
    assert values["meta"].get("title") == archived.note.meta.title


@given(archived_notes(), archived_notes())
def test_a_path_stays_in_its_folder_and_belongs_to_one_note(one: ArchivedNote, other: ArchivedNote) -> None:
    path = path_of(one.note)
    assert not path.is_absolute()
    assert ".." not in path.parts
    assert all(part.isascii() and len(part) < 120 for part in path.parts)
    if path == path_of(other.note):
        assert identity(one.note) == identity(other.note)


def identity(note: Note) -> tuple[object, ...]:
    if note.kind is Kind.TURN:
        return note.kind, note.meta.conversation_id or "", note.meta.turn_index
    return note.kind, note.public_id
