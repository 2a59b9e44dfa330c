"""Imports a folder of Markdown files, from `nur export --format markdown` or from basic-memory.

A basic-memory file becomes a note identified by its permalink. Its text is unchanged, with observations and relations.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from nur.adapters.importers.items import Item, UnreadableItem, new_note
from nur.adapters.markdown import front_matter, notes
from nur.domain.errors import BadRequest
from nur.domain.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nur.domain.archive import NewNote

_KNOWN_FIELDS = ("title", "type", "permalink", "tags", "created", "modified", "date")


def read(path: Path) -> Iterator[Item | UnreadableItem]:
    """The notes of a folder, sorted by path; hidden files and folders are skipped."""
    for file in sorted(path.rglob("*.md")):
        relative = file.relative_to(path)
        if any(part.startswith(".") for part in relative.parts):
            continue
        place = relative.as_posix()
        try:
            content = file.read_bytes()
            yield Item(place, notes.parse(content) or _of_basic_memory(content.decode(), place))
        except BadRequest as error:
            yield UnreadableItem(place, str(error))
        except UnicodeDecodeError:
            yield UnreadableItem(place, "is not UTF-8")
        except OSError as error:
            yield UnreadableItem(place, f"cannot be read ({error.strerror})")


def _of_basic_memory(text: str, place: str) -> NewNote:
    head, body = front_matter.split(text)
    tags = head.get("tags")
    tag_list = [tag.strip() for tag in tags.split(",")] if isinstance(tags, str) else tags
    return new_note(
        body.strip("\n"),
        kind=Kind.NOTE,
        type_=str(head.get("type") or "note"),
        at=head.get("created") or head.get("date"),
        title=str(head.get("title") or place.rpartition("/")[2].removesuffix(".md")),
        source_system="basic-memory",
        source_id=str(head.get("permalink") or place.removesuffix(".md")),
        metadata={
            "tags": tag_list,
            **{name: _plain(value) for name, value in head.items() if name not in _KNOWN_FIELDS},
        },
    )


def _plain(value: Any) -> Any:
    """Convert a YAML value to JSON types."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=value.tzinfo or UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
