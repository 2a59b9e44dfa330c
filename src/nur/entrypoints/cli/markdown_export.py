"""Export every active note as a Markdown file, into a folder that suits git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.adapters.markdown.notes import FOLDERS, path_of, render
from nur.domain.archive import ArchivedNote
from nur.domain.errors import BadConfiguration, Unavailable
from nur.domain.notes import Status
from nur.domain.records import End, decode
from nur.services.archive.import_notes import numbered_lines

if TYPE_CHECKING:
    from pathlib import Path

    from nur.entrypoints.cli.client import Store

#: First bytes of every exported file; other files in the folder are left alone.
_SIGNATURE = b"---\npublic_id: "


async def export_markdown(store: Store, folder: Path) -> int:
    """Write changed files, delete those of deleted notes, and return the number of notes.

    Raises Unavailable if the export ends early; then nothing is deleted.
    """
    written: set[Path] = set()
    is_complete = False
    try:
        async for _, line in numbered_lines(store.export()):
            record = decode(line)
            is_complete = isinstance(record, End)
            if isinstance(record, ArchivedNote) and record.note.status is Status.ACTIVE:
                target = folder / path_of(record.note)
                _write(target, render(record))
                written.add(target)
        if not is_complete:
            raise Unavailable("The export ended early. Try again.")
        for path in _exported_files(folder) - written:
            path.unlink()
    except OSError as error:
        raise BadConfiguration(f"Cannot write to {folder} ({error.strerror}).") from error
    return len(written)


def _write(target: Path, content: bytes) -> None:
    if target.exists() and target.read_bytes() == content:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def _exported_files(folder: Path) -> set[Path]:
    """Files of earlier exports."""
    paths = (path for name in FOLDERS.values() for path in (folder / name).rglob("*.md"))
    return {path for path in paths if path.is_file() and _has_signature(path)}


def _has_signature(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_SIGNATURE)) == _SIGNATURE
