"""Imports a Chroma folder: each document becomes a note. Vectors are not imported but embedded again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nur.adapters.importers.items import Item, UnreadableItem, new_note, url
from nur.domain.errors import BadConfiguration
from nur.domain.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = 500
_TITLES, _TIMES = ("title", "name"), ("created_at", "timestamp", "date", "ts")


def read(path: Path) -> Iterator[Item | UnreadableItem]:
    """The documents of all collections; records without text become UnreadableItems."""
    try:
        import chromadb
        from chromadb.config import Settings
    except ImportError as error:
        raise BadConfiguration("To read Chroma collections: pip install 'nur-memory[chroma]'") from error
    client = chromadb.PersistentClient(str(path), Settings(anonymized_telemetry=False))
    for collection in sorted(client.list_collections(), key=lambda collection: collection.name):
        for start in range(0, collection.count(), PAGE):
            page: Any = collection.get(limit=PAGE, offset=start, include=["documents", "metadatas"])
            rows = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
            yield from (_item(collection.name, *row) for row in rows)


def _item(collection: str, name: str, document: str | None, metadata: Any) -> Item | UnreadableItem:
    place, known = f"{collection}/{name}", dict(metadata or {})
    if not document or not document.strip():
        return UnreadableItem(place, "has no text")
    note = new_note(
        document,
        kind=Kind.NOTE,
        type_=collection,
        at=next((known[field] for field in _TIMES if field in known), None),
        title=next((str(known[field]) for field in _TITLES if known.get(field)), None),
        source_system="chroma",
        source_id=place,
        source_url=url(known.get("source_url") or known.get("url") or known.get("source")),
        metadata=known,
    )
    return Item(place, note)
