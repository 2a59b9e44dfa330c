"""Fills a store with every kind of note, previous versions, deleted notes, all fields and expiry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.notes import NoteMetadata
from nur.domain.writes import OnEmbeddingFailure, Protection
from tests.callers import LOCAL_CALLER

if TYPE_CHECKING:
    from nur.bootstrap import Services
    from tests.rest_client import Rest

LONG = " ".join(f"Keeper {number} of the lighthouse drinks tea at {number}." for number in range(400))
_LATER = OnEmbeddingFailure.LATER


async def fill(rest: Rest) -> None:
    """Store, replace, delete and resolve notes through the tools and the REST API."""
    memory = {"text": "Prefers tea \u2028 to coffee.", "type": "preference", "confidence": 0.1 + 0.2}
    await rest.ok("POST", "/v2/memories", memory)
    note = {"text": "First.", "title": "Numbers", "key": "n", "project": "p", "metadata": {"b": 1, "a": [None, 1.5]}}
    await rest.ok("POST", "/v2/notes", note)
    for text in ("Second.", "Third."):
        await rest.ok("POST", "/v2/notes", {**note, "text": text})
    event = await rest.ok(
        "POST", "/v2/events", {"text": "The bell rang.", "occurred_at": "2020-02-29T23:59:59.5+02:00"}
    )
    await rest.ok("PATCH", f"/v2/notes/{event['note_id']}", {"resolved": True})
    lasting = await rest.ok("POST", "/v2/notes", {"text": "Soon over.", "ttl_days": 3})
    gone = await rest.ok("POST", "/v2/notes", {"text": "Wrong.", "source": {"system": "x", "id": "1"}})
    await rest.ok("PATCH", f"/v2/notes/{gone['note_id']}", {"text": "Wrong again."})
    for name in (gone["note_id"], lasting["note_id"]):
        await rest.ok("DELETE", f"/v2/notes/{name}")
    await _ingest(rest.services)


async def _ingest(services: Services) -> None:
    meta = NoteMetadata(type="doc", source_system="drive", source_id="7", participants=("Ann", "Zoë"), author="Ann")
    for text in ("A short document.", LONG):
        await services.ingest(text, meta, Protection(), caller=LOCAL_CALLER, on_failure=_LATER)
    for index, text in enumerate(("Hello?", "Hello!")):
        await services.append_turn("talk/1", index, role="user", content=text, caller=LOCAL_CALLER, on_failure=_LATER)
