"""Notes as Markdown files: the front matter holds everything but the text and its previous versions."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from nur.adapters.markdown import front_matter
from nur.domain.chunks import sha256
from nur.domain.kinds import KINDS, TURNS
from nur.domain.records import decode_note, note_values

if TYPE_CHECKING:
    from nur.domain.archive import ArchivedNote, NewNote
    from nur.domain.notes import Note

#: The folder of each kind in an export.
FOLDERS = {kind: spec.label for kind, spec in KINDS.items()}
_EXCLUDED_FIELDS = ("text", "versions", "content_hash")
_MAX_NAME_CHARACTERS = 80


def render(archived: ArchivedNote) -> bytes:
    """The file of a note. The same note always yields the same bytes."""
    values = {name: value for name, value in note_values(archived).items() if name not in _EXCLUDED_FIELDS}
    return f"{front_matter.join(values, archived.text)}\n".encode()


def parse(content: bytes) -> ArchivedNote | NewNote | None:
    """Parse a file into a note; None for a Markdown file that `render` did not write. Raises BadRequest."""
    values, text = front_matter.split(content.decode("utf-8"))
    if not {"public_id", "note_id", "kind"} <= values.keys():
        return None
    return decode_note({**values, "text": text.removesuffix("\n")})


def path_of(note: Note) -> PurePosixPath:
    """Path of a note's file. It is stable while the note's project and conversation are."""
    folder = PurePosixPath(FOLDERS[note.kind])
    if note.kind in TURNS:
        return folder / _name(note.meta.conversation_id or "") / f"{note.meta.turn_index:06d}.md"
    if note.meta.project:
        folder /= _name(note.meta.project)
    return folder / f"{_name(note.public_id)}.md"


def _name(text: str) -> str:
    """A file name that is valid on every system; distinct texts get distinct names."""
    plain = re.sub(r"[^a-z0-9_-]", "-", text.lower())[:_MAX_NAME_CHARACTERS]
    return plain if plain == text and plain else f"{plain}-{sha256(text)[:8]}"
