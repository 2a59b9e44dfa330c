"""Convert another program's notes to the lines of an import."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING, Any

from nur.adapters.importers.items import Item, UnreadableItem
from nur.domain.archive import NewNote
from nur.domain.records import encode, encode_new, end, header

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

BATCH = 200
_HEADER_LINES = 1


class Converted:
    """Import lines of a source, with the place of each note in the source."""

    def __init__(self, items: Iterator[Item | UnreadableItem]) -> None:
        self._items = items
        self._places: list[str] = []
        self._unreadable: list[UnreadableItem] = []

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the lines in batches. Raises BadRequest if the source cannot be read."""
        yield header()
        while batch := await asyncio.to_thread(lambda: list(islice(self._items, BATCH))):
            yield b"".join(self._line(item) for item in batch if isinstance(item, Item))
            self._unreadable += [item for item in batch if isinstance(item, UnreadableItem)]
        yield end(len(self._places))

    def with_places(self, report: dict[str, Any]) -> dict[str, Any]:
        """The server's report, with source places instead of line numbers and with the unreadable items added."""
        unreadable = [{"place": one.place, "reason": one.reason} for one in self._unreadable]
        refused = [
            {"place": self._places[failure["line"] - _HEADER_LINES - 1], "reason": failure["reason"]}
            for failure in report["failures"]
        ]
        return {**report, "failed": report["failed"] + len(unreadable), "failures": unreadable + refused}

    def _line(self, item: Item) -> bytes:
        self._places.append(item.place)
        return encode_new(item.note) if isinstance(item.note, NewNote) else encode(item.note)
