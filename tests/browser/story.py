"""A small sample store: memories, a conversation, documents, notes and events."""

from __future__ import annotations

from typing import Any

import httpx2
from mcp import Client

MEMORIES = [
    ("Anna's train to Vienna leaves on Friday at 07:40 from platform 3.", "fact", 0.9),
    ("Prefers window seats and quiet carriages.", "preference", 0.8),
    ("The invoices of the garden project are due at the end of the month.", "project", 1.0),
    ("We chose SQLite over PostgreSQL for the first release: one file, no server.", "decision", 0.95),
    ("Jonas is allergic to hazelnuts and walnuts.", "fact", 1.0),
    ("Answers should be short, with the source named.", "preference", 0.9),
    ("The office plants are watered on Tuesdays.", "fact", 0.7),
]
#: Pairs that need a review: the second contradicts the first.
REVISED: list[dict[str, Any]] = [
    {"text": "The alarm code of the yard is 9052.", "ts": "2026-03-11"},
    {"text": "The alarm code of the yard is 3386.", "ts": "2026-05-01"},
    {"text": "Danny has the key of the barn in Leeds.", "ts": "2026-04-07"},
    {"text": "Danny does not have the key of the barn in Leeds.", "ts": "2026-06-02"},
]
#: A note whose text is replaced.
TEXTS = ["The yard gate closes at six.", "The yard gate closes at eight."]
NOTES: list[dict[str, Any]] = [
    {
        "text": "The staging database moves to port 5433 on Monday.",
        "title": "Staging port",
        "key": "staging-port",
        "project": "infra",
        "type": "fact",
        "importance": 0.7,
        "source": {"system": "slack", "id": "C042/1718", "url": "https://example.com/C042/1718"},
    },
    {"text": "Ideas for the reading group: short stories first, one novel in spring.", "title": "Reading group"},
    {"text": "מחר נפגשים בתחנה בשעה תשע", "title": "פגישה"},
]
EVENTS = [
    {"text": "Deployed build 812 to production.", "type": "deploy", "agent": "ci"},
    {"text": "The nightly backup finished in four minutes.", "type": "backup", "agent": "ci"},
]
_HOURS = """Opening hours. The workshop is open from nine to six, on Thursdays until eight in the evening. Whoever
leaves last switches off the compressor and locks the yard gate."""
_SAFETY = """Safety. Goggles are worn at every machine. Long hair is tied back. The emergency stop is the red button
beside the door; it cuts the power to all machines at once."""
_MACHINE = """Machine {}. It is cleaned after use and oiled once a month, and its log is kept in the drawer below it.
Faults are written on the board with the date, and the machine is not used until they are mended."""
_LEAVE = """Leave. Requests for time off are sent to Marta at least three weeks ahead; in August the workshop is closed
for the whole second half of the month."""
_VISITORS = "Visitors. Groups of up to twelve may visit on Wednesday mornings. They are announced a week before."
_MACHINES = [_MACHINE.format(number) for number in range(1, 40)]
HANDBOOK = "\n\n".join(
    part.replace("\n", " ") for part in ["# Handbook of the workshop", _HOURS, _SAFETY, *_MACHINES, _LEAVE, _VISITORS]
)
TURNS = [
    ("user", "Can you plan the trip to Vienna?"),
    ("assistant", "Yes. Anna arrives on Friday; shall I book the hotel near the station?"),
    ("user", "Please do, two nights, with breakfast."),
    ("assistant", "Booked: two nights at the Hotel am Park, breakfast from half past six."),
]


async def tell(url: str) -> None:
    """Store all of it."""
    async with httpx2.AsyncClient(base_url=url, timeout=60) as rest:
        for text, kind, confidence in MEMORIES:
            await _ok(rest, "/v2/memories", {"text": text, "type": kind, "confidence": confidence})
        for memory in REVISED:
            await _ok(rest, "/v2/memories", memory)
        for note in NOTES:
            await _ok(rest, "/v2/notes?wait=indexed", note)
        for event in EVENTS:
            await _ok(rest, "/v2/events", event)
    async with Client(f"{url}/mcp") as mcp:
        document = {"artifact_type": "doc", "source_system": "drive", "title": "Workshop handbook"}
        await _told(mcp, "artifact_ingest", {**document, "content": HANDBOOK, "source_id": "handbook"})
        for index, (role, content) in enumerate(TURNS):
            turn = {"conversation_id": "trip-planning", "role": role, "content": content, "turn_index": index}
            await _told(mcp, "history_append", turn)
    async with httpx2.AsyncClient(base_url=url, timeout=60) as rest:
        for text in TEXTS:
            await _ok(rest, "/v2/notes", {"text": text, "title": "Yard gate", "key": "yard-gate"})


async def _ok(rest: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> None:
    answer = await rest.post(path, json=body)
    assert answer.is_success, answer.text


async def _told(mcp: Client, tool: str, arguments: dict[str, Any]) -> None:
    result = await mcp.call_tool(tool, arguments)
    assert not result.is_error, result.content
