"""Imports mcp-memory-service's JSON export: an object with `memories`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nur.adapters.importers.items import Item, UnreadableItem, new_note

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read(path: Path) -> Iterator[Item | UnreadableItem]:
    """The memories of a file."""
    for number, entry in enumerate(json.loads(path.read_bytes())["memories"], start=1):
        place = f"entry {number}"
        if not isinstance(entry, dict) or not isinstance(entry.get("content"), str):
            yield UnreadableItem(place, "has no content")
            continue
        at = entry.get("created_at_iso") or entry.get("created_at")
        type_ = entry.get("memory_type")
        yield Item(place, new_note(entry["content"], type_=type_, at=at, metadata=_metadata(entry)))


def _metadata(entry: dict[str, Any]) -> dict[str, Any]:
    metadata = entry.get("metadata") if isinstance(entry.get("metadata"), dict) else {}
    tags = entry.get("tags")
    tag_list = tags.split(",") if isinstance(tags, str) else tags
    return {
        **(metadata or {}),
        "tags": tag_list,
        "memory_type": entry.get("memory_type"),
        "content_hash": entry.get("content_hash"),
    }
