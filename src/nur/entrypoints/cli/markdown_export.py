"""Write every active note as a Markdown file, into a folder that is fit for git."""

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

#: How the files that we wrote begin: others in the folder are left alone.
_OURS = b"---\npublic_id: "


async def export_markdown(store: Store, folder: Path) -> int:
    """Write the files that changed, delete those of notes that are gone, and return the number of notes.

    Raises Unavailable when the export ends early; then nothing is deleted.
    """
    written: set[Path] = set()
    is_whole = False
    try:
        async for _, line in numbered_lines(store.export()):
            record = decode(line)
            is_whole = isinstance(record, End)
            if isinstance(record, ArchivedNote) and record.note.status is Status.ACTIVE:
                target = folder / path_of(record.note)
                _write(target, render(record))
                written.add(target)
        if not is_whole:
            raise Unavailable("The export ended early. Try again.")
        for path in _ours(folder) - written:
            path.unlink()
    except OSError as error:
        raise BadConfiguration(f"Cannot write to {folder} ({error.strerror}).") from error
    return len(written)


def _write(target: Path, content: bytes) -> None:
    if target.exists() and target.read_bytes() == content:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def _ours(folder: Path) -> set[Path]:
    """The files of an earlier export."""
    found = (path for name in FOLDERS.values() for path in (folder / name).rglob("*.md"))
    return {path for path in found if path.is_file() and _starts(path)}


def _starts(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_OURS)) == _OURS
