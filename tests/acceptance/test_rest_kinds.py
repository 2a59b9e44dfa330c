"""Artifacts, turns and conversations over REST, on a real store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.note_world import LONG
from tests.profiles import INDEX_STATE
from tests.rest_client import Rest, open_rest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LETTER = {
    "text": "The gate is painted green.",
    "type": "email",
    "title": "The gate",
    "author": "Ada",
    "participants": ["Ada", "Ben"],
    "project": "house",
    "occurred_at": "2026-01-02T03:04:05Z",
    "source": {"system": "gmail", "id": "m1", "url": "https://example.com/m1"},
    "metadata": {"folder": "inbox"},
}


@pytest.fixture
async def rest() -> AsyncIterator[Rest]:
    async with open_rest() as opened:
        yield opened


async def pages(rest: Rest, path: str, name: str) -> list[list[Any]]:
    """Every page of a listing."""
    found, cursor = [], None
    while True:
        page = await rest.ok("GET", path + (f"&cursor={cursor}" if cursor else ""))
        found.append(page[name])
        cursor = page["next_cursor"]
        if cursor is None:
            return found


async def test_an_artifact_is_stored_read_replaced_and_deleted(rest: Rest) -> None:
    created = await rest.call("POST", "/v2/artifacts?wait=indexed", LETTER, Idempotency_Key="k")
    assert created.status_code == 201, created.text
    name = created.json()["note_id"]
    assert name.startswith("art_")
    assert (created.json()["index_state"], created.headers["location"]) == ("indexed", f"/v2/notes/{name}")
    note = await rest.ok("GET", f"/v2/notes/{name}")
    assert note["kind"] == "artifact"
    assert {field: note[field] for field in LETTER} == LETTER
    replayed = await rest.call("POST", "/v2/artifacts?wait=indexed", LETTER, Idempotency_Key="k")
    assert (replayed.json(), replayed.headers["idempotency-replayed"]) == (created.json(), "true")
    again = await rest.ok("POST", "/v2/artifacts", {**LETTER, "text": "The gate is painted red."})
    assert (again["operation"], again["note_id"], again["version"]) == ("replaced", name, 2)
    assert (await rest.call("DELETE", f"/v2/notes/{name}", If_Match='"1"')).status_code == 412
    assert (await rest.call("DELETE", f"/v2/notes/{name}", If_Match='"2"')).status_code == 204
    restored = await rest.ok("POST", "/v2/admin/trash/restore", {"note_id": name})
    assert restored["note_id"] == name
    assert (await rest.call("POST", "/v2/admin/trash/purge", {"note_id": name})).status_code == 204
    await rest.problem(404, "GET", f"/v2/notes/{name}")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"type": "poem"}, "body.type"),
        ({"source": {"id": "m1"}}, "body.source.system"),  # an artifact comes from somewhere
        ({"source": {"system": "  "}}, "body.source.system"),
        ({"text": " "}, "body.text"),
        ({"participants": ["x"] * 101}, "body.participants"),
    ],
)
async def test_an_artifact_that_cannot_be_stored_is_refused_by_its_field(
    rest: Rest, change: dict[str, Any], field: str
) -> None:
    problem = await rest.problem(422, "POST", "/v2/artifacts", {**LETTER, **change})
    assert field in [error["field"] for error in problem["errors"]]


async def test_an_artifact_is_embedded_again(rest: Rest) -> None:
    name = (await rest.ok("POST", "/v2/artifacts", LETTER))["note_id"]
    done = await rest.ok("POST", f"/v2/artifacts/{name}/reembed")
    assert (done["note_id"], done["index_state"]) == (name, INDEX_STATE)
    assert done["embedding_version"] == rest.services.embedder.model.version
    await rest.problem(404, "POST", "/v2/artifacts/art_none/reembed")
    memory = (await rest.ok("POST", "/v2/memories", {"text": "Tea."}))["note_id"]
    await rest.problem(404, "POST", f"/v2/artifacts/{memory}/reembed")


async def test_part_of_a_text_is_read_by_its_offsets(rest: Rest) -> None:
    text = LONG[:5000] + "The zebra 🦓 stands here." + LONG[5000:]
    name = (await rest.ok("POST", "/v2/artifacts", {**LETTER, "text": text}))["note_id"]
    (item,) = (await rest.ok("POST", "/v2/searches", {"query": "zebra stands", "top_k": 1}))["items"]
    path = f"/v2/notes/{name}/text?start={item['start_char']}&end={item['end_char']}"
    part = await rest.ok("GET", path)
    assert part["text"] == item["snippet"]
    assert (part["start_char"], part["end_char"], part["note_id"]) == (item["start_char"], item["end_char"], name)

    read, start = "", 0
    while start is not None:
        part = await rest.ok("GET", f"/v2/notes/{name}/text?start={start}&end={start + 1000}")
        assert part["text"] == text[part["start_char"] : part["end_char"]]
        read, start = read + part["text"], part["next_start"]
    assert read == text

    whole = await rest.call("GET", f"/v2/notes/{name}/text")
    assert (whole.json()["text"], whole.headers["etag"]) == (text, '"1"')
    behind = await rest.ok("GET", f"/v2/notes/{name}/text?start={len(text) + 9}")
    assert (behind["text"], behind["start_char"], behind["next_start"]) == ("", len(text) + 9, None)
    assert (await rest.problem(400, "GET", f"/v2/notes/{name}/text?start=5&end=4"))["code"] == "bad_request"
    await rest.problem(404, "GET", "/v2/notes/art_none/text")


async def test_a_note_is_read_without_its_text(rest: Rest) -> None:
    name = (await rest.ok("POST", "/v2/artifacts", {**LETTER, "text": LONG}))["note_id"]
    note = await rest.ok("GET", f"/v2/notes/{name}?text=false&chunks=true")
    assert note["text"] is None
    assert len(note["chunks"]) == note["chunk_count"] > 1


async def test_turns_are_stored_in_their_conversation_and_read_from_its_end(rest: Rest) -> None:
    path = "/v2/conversations/a%2Fb%20c/turns"
    for i in range(7):
        body = {"turn_index": i, "role": "user" if i % 2 == 0 else "assistant", "text": f"Turn {i}."}
        created = await rest.call("POST", path, body, Idempotency_Key=f"k{i}")
        assert created.status_code == 201, created.text
        assert created.json()["note_id"] == f"a/b c_turn_{i}"
    same = {"turn_index": 6, "role": "user", "text": "Turn 6."}
    assert (await rest.ok("POST", path, same))["operation"] == "unchanged"
    assert (await rest.ok("POST", path, {**same, "text": "Turn six."}))["operation"] == "replaced"
    found = await pages(rest, f"{path}?limit=3", "turns")
    assert [[turn["text"] for turn in page] for page in found] == [
        ["Turn 4.", "Turn 5.", "Turn six."],
        ["Turn 1.", "Turn 2.", "Turn 3."],
        ["Turn 0."],
    ]
    assert [turn["turn_index"] for turn in found[1]] == [1, 2, 3]
    assert {turn["conversation_id"] for turn in found[0]} == {"a/b c"}
    await rest.ok("POST", "/v2/conversations/other/turns", same)
    assert len(await pages(rest, f"{path}?limit=3", "turns")) == 3
    assert (await rest.problem(400, "GET", f"{path}?cursor=banana"))["code"] == "bad_request"
    assert (await rest.ok("GET", "/v2/conversations/none/turns"))["turns"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"turn_index": 0, "role": "robot", "text": "x"}, "body.role"),
        ({"turn_index": -1, "role": "user", "text": "x"}, "body.turn_index"),
        ({"turn_index": 2**54, "role": "user", "text": "x"}, "body.turn_index"),
        ({"turn_index": 0, "role": "user", "text": " "}, "body.text"),
    ],
)
async def test_a_turn_that_cannot_be_stored_is_refused_by_its_field(
    rest: Rest, body: dict[str, Any], field: str
) -> None:
    problem = await rest.problem(422, "POST", "/v2/conversations/c/turns", body)
    assert field in [error["field"] for error in problem["errors"]]


async def test_an_id_may_hold_a_line_break_and_any_script(rest: Rest) -> None:
    turn = {"turn_index": 0, "role": "user", "text": "Hello."}
    stored = await rest.call("POST", "/v2/conversations/a%0A%E8%8C%B6/turns", turn)
    assert stored.json()["note_id"] == "a\n茶_turn_0"
    assert stored.headers["location"] == "/v2/notes/a%0A%E8%8C%B6_turn_0"
    assert len((await rest.ok("GET", "/v2/conversations/a%0A%E8%8C%B6/turns"))["turns"]) == 1
    assert (await rest.ok("GET", stored.headers["location"]))["text"] == "Hello."


async def test_conversations_are_listed_by_their_last_turn(rest: Rest) -> None:
    for i in range(5):
        for place in (1, 0):  # in whatever order
            body = {"turn_index": place, "role": "user", "text": f"Turn {place} of {i}."}
            await rest.ok("POST", f"/v2/conversations/c{i}/turns", body)
    await rest.ok("POST", "/v2/conversations/c1/turns", {"turn_index": 2, "role": "user", "text": "Back again."})
    found = await pages(rest, "/v2/conversations?limit=2", "conversations")
    assert [one["conversation_id"] for page in found for one in page] == ["c1", "c4", "c3", "c2", "c0"]
    first = found[0][0]
    assert (first["turns"], first["last_turn_index"], first["preview"]) == (3, 2, "Turn 0 of 1.")
    assert first["first_at"] <= first["last_at"]
    for turn in ("c1_turn_0", "c1_turn_2", "c1_turn_1"):
        await rest.call("DELETE", f"/v2/notes/{turn}")
    left = await rest.ok("GET", "/v2/conversations")
    assert [one["conversation_id"] for one in left["conversations"]] == ["c4", "c3", "c2", "c0"]
    assert (await rest.problem(400, "GET", "/v2/conversations?cursor=banana"))["code"] == "bad_request"


async def test_a_list_is_limited_to_notes_that_contain_a_text(rest: Rest) -> None:
    for text, title in (("The 100% Lamp.", None), ("Tea.", "About the LAMP"), ("A lump, 100 of them.", None)):
        await rest.ok("POST", "/v2/notes", {"text": text, "title": title})
    found = await pages(rest, "/v2/notes?containing=lamp&limit=1&text=true", "notes")
    assert [note["text"] for page in found for note in page] == ["Tea.", "The 100% Lamp."]
    (note,) = (await rest.ok("GET", "/v2/notes?containing=100%25&text=true"))["notes"]
    assert note["text"] == "The 100% Lamp."


async def test_the_trash_has_pages(rest: Rest) -> None:
    names = [(await rest.ok("POST", "/v2/notes", {"text": f"Note {i}."}))["note_id"] for i in range(5)]
    for name in names:
        await rest.call("DELETE", f"/v2/notes/{name}")
    found = await pages(rest, "/v2/admin/trash?limit=2", "notes")
    assert [note["note_id"] for page in found for note in page] == names
    assert (await rest.problem(400, "GET", "/v2/admin/trash?cursor=banana"))["code"] == "bad_request"


async def test_notes_are_counted_by_kind_and_project(rest: Rest) -> None:
    for i in range(3):
        await rest.ok("POST", "/v2/notes", {"text": f"Note {i}.", "project": "house" if i else "garden"})
    await rest.ok("POST", "/v2/memories", {"text": "Tea."})
    stats = await rest.ok("GET", "/v2/admin/stats")
    assert stats["notes"] == {"memory": 1, "turn": 0, "artifact": 0, "note": 3, "event": 0}
    assert list(stats["projects"].items()) == [("house", 2), ("garden", 1)]


@pytest.mark.parametrize("kind", ["artifact", "memory", "event"])
async def test_each_kind_has_a_list_of_its_own(rest: Rest, kind: str) -> None:
    paths = {"artifact": "/v2/artifacts", "memory": "/v2/memories", "event": "/v2/events"}
    for path in (*paths.values(), "/v2/notes"):
        for i in range(3):
            body: dict[str, Any] = {"type": "doc", "source": {"system": "s"}} if path == "/v2/artifacts" else {}
            await rest.ok("POST", path, {**body, "text": f"{path} {i}"})
    found = await pages(rest, f"{paths[kind]}?limit=2&text=true", "notes")
    assert [note["text"] for page in found for note in page] == [f"{paths[kind]} {i}" for i in (2, 1, 0)]
    assert {note["kind"] for page in found for note in page} == {kind}


async def test_the_embedding_model_is_checked(rest: Rest) -> None:
    report = await rest.ok("GET", "/v2/admin/embedding/health")
    model = rest.services.embedder.model
    assert (report["embedding_version"], report["healthy"]) == (model.version, True)
    assert (report["dimensions"], report["error"]) == (model.dimensions, None)
    assert report["latency_ms"] >= 0
    assert report["key_configured"] is False
