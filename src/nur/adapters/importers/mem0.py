"""Imports mem0's memories as `get_all` returns them: a list, or an object with `results`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nur.adapters.importers.items import Item, UnreadableItem, new_note

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_KEPT_FIELDS = ("user_id", "agent_id", "app_id", "run_id", "categories", "updated_at")


def read(path: Path) -> Iterator[Item | UnreadableItem]:
    """The memories of a file."""
    content = json.loads(path.read_bytes())
    entries = content if isinstance(content, list) else content["results"]
    for number, entry in enumerate(entries, start=1):
        place = f"entry {number}"
        if not isinstance(entry, dict) or not isinstance(entry.get("memory"), str):
            yield UnreadableItem(place, "has no memory")
            continue
        yield Item(place, new_note(entry["memory"], at=entry.get("created_at"), metadata=_metadata(entry)))


def _metadata(entry: dict[str, Any]) -> dict[str, Any]:
    metadata = entry.get("metadata") if isinstance(entry.get("metadata"), dict) else {}
    return {**(metadata or {}), **{name: entry.get(name) for name in _KEPT_FIELDS}, "mem0_id": entry.get("id")}
