"""Imports the MCP reference memory server's `memory.jsonl`: entities with observations, and relations.

    {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["Speaks Spanish"]}
    {"type": "relation", "from": "Anna", "to": "Acme", "relationType": "works_at"}

Each observation and each relation becomes a self-contained memory.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nur.adapters.importers.items import Item, UnreadableItem, new_note

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read(path: Path) -> Iterator[Item | UnreadableItem]:
    """The memories of a file."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            place = f"line {number}"
            try:
                values = json.loads(line)
                notes = list(_notes(values))
            except (ValueError, RecursionError):
                yield UnreadableItem(place, "not valid JSON")
            except (KeyError, TypeError, AttributeError):
                yield UnreadableItem(place, "must be an entity or a relation with all its fields")
            else:
                yield from (Item(place, note) for note in notes)


def _notes(values: dict[str, Any]) -> Iterator[Any]:
    if values["type"] == "relation":
        relation = {"from": values["from"], "to": values["to"], "relation": values["relationType"]}
        text = f"{relation['from']} {relation['relation']} {relation['to']}"
        yield new_note(text, metadata=relation)
        return
    if values["type"] != "entity":
        raise KeyError("type")
    entity = {"entity": str(values["name"]), "entity_type": str(values["entityType"])}
    observations = values["observations"] or [f"is a {entity['entity_type']}"]
    for observation in observations:
        yield new_note(f"{entity['entity']}: {observation}", metadata=entity)
