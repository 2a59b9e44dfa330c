"""Searches over REST: chunk items with their offsets, repeated, and full notes taken out of them."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import pytest

from nur.adapters.sql.sqlite.files import FILE
from nur.domain.search import BOUNDARY
from nur.entrypoints.rest import admin, artifacts, conversations, notes, schemas, searches, traces, writes
from nur.entrypoints.rest.examples import EXAMPLES
from tests.profiles import embedded_only
from tests.rest_client import Rest, open_rest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from pydantic import BaseModel

HALL = " ".join(f"Sentence number {i} tells of lamp {i} in the long hall of the house." for i in range(150))


@pytest.fixture
async def rest() -> AsyncIterator[Rest]:
    async with open_rest() as opened:
        yield opened


async def test_items_are_chunks_with_true_offsets_between_their_neighbours(rest: Rest) -> None:
    text = HALL.replace("lamp 75 ", "the crimson zeppelin ")
    name = (await rest.ok("POST", "/v2/notes?wait=indexed", {"text": text, "title": "Hall"}))["note_id"]
    (small,) = (await rest.ok("POST", "/v2/searches", {"query": "crimson zeppelin", "max_chars": 300}))["items"]
    assert len(small["stitched"]["text"].replace(f"\n{BOUNDARY}\n", "")) <= 300
    assert small["snippet"] in text[small["stitched"]["start_char"] : small["stitched"]["end_char"]]
    answer = await rest.ok("POST", "/v2/searches", {"query": "crimson zeppelin", "max_chars": 20_000})
    (item,) = answer["items"]
    assert (item["note_id"], item["kind"], item["title"], item["rank"]) == (name, "note", "Hall", 1)
    assert "crimson zeppelin" in item["snippet"]
    assert item["snippet"] == text[item["start_char"] : item["end_char"]]
    for passage in item["passages"]:
        assert passage["text"] == text[passage["start_char"] : passage["end_char"]]
    assert item["chunk_start"] <= text.index("crimson zeppelin") < item["chunk_end"]
    stitched = item["stitched"]
    assert stitched["start_char"] < item["chunk_start"]
    assert stitched["end_char"] > item["chunk_end"]
    assert stitched["text"].count(BOUNDARY) == 2
    assert stitched["text"].replace(f"\n{BOUNDARY}\n", "") == text[stitched["start_char"] : stitched["end_char"]]
    assert item["ranks"]
    assert item["text"] is None


async def test_stitching_can_be_left_out(rest: Rest) -> None:
    await rest.ok("POST", "/v2/notes", {"text": HALL})
    answer = await rest.ok("POST", "/v2/searches", {"query": "lamp", "stitch": False})
    assert answer["items"][0]["stitched"] is None


async def test_levels_carry_ids_passages_or_whole_texts(rest: Rest) -> None:
    await rest.ok("POST", "/v2/notes", {"text": "The lamp is green.", "title": "Lamp"})
    by_level = {
        level: (await rest.ok("POST", "/v2/searches", {"query": "lamp", "payload": level}))["items"][0]
        for level in ("l0", "l1", "l2")
    }
    assert (by_level["l0"]["title"], by_level["l0"]["snippet"], by_level["l0"]["passages"]) == ("Lamp", None, [])
    assert (by_level["l1"]["snippet"], by_level["l1"]["text"]) == ("The lamp is green.", None)
    assert by_level["l2"]["text"] == "The lamp is green."


async def test_kinds_projects_and_filters_narrow_a_search(rest: Rest) -> None:
    note = await rest.ok("POST", "/v2/notes", {"text": "A green lamp.", "project": "house", "type": "fact"})
    event = await rest.ok("POST", "/v2/events", {"text": "The green lamp fell.", "confidence": 0.2})
    memory = await rest.ok("POST", "/v2/memories", {"text": "Likes the green lamp."})

    async def found(**more: object) -> set[str]:
        answer = await rest.ok("POST", "/v2/searches", {"query": "green lamp", **more})
        return {item["note_id"] for item in answer["items"]}

    assert await found() == {note["note_id"], event["note_id"], memory["note_id"]}
    assert await found(kinds=["event"]) == {event["note_id"]}
    assert await found(project="house") == {note["note_id"]}
    assert await found(filters={"min_confidence": 0.5}) == {note["note_id"], memory["note_id"]}
    assert await found(filters={"type": "fact"}) == {note["note_id"], memory["note_id"]}
    assert await found(filters={"artifact_type": "email"}) == set()
    assert await found(top_k=1, mode="lexical") <= await found()
    answers = {
        mode: await rest.ok("POST", "/v2/searches", {"query": "green lamp", "mode": mode})
        for mode in ("hybrid", "lexical", "dense")
    }
    assert 0 < answers["hybrid"]["confidence"] <= 1
    assert answers["lexical"]["confidence"] is answers["dense"]["confidence"] is None
    problem = await rest.problem(422, "POST", "/v2/searches", {"query": "lamp", "filters": {"colour": "green"}})
    assert problem["detail"] == "Invalid filter: colour"
    reversed_range = {"time_range_start": "2026-02-01T00:00:00Z", "time_range_end": "2026-01-01T00:00:00Z"}
    problem = await rest.problem(422, "POST", "/v2/searches", {"query": "lamp", "filters": reversed_range})
    assert "time_range_start must not be after time_range_end" in problem["detail"]


async def test_a_search_is_repeated_less_what_is_gone(rest: Rest) -> None:
    names = [(await rest.ok("POST", "/v2/notes", {"text": f"Lamp number {i} is green."}))["note_id"] for i in range(3)]
    first = await rest.ok("POST", "/v2/searches", {"query": "green lamp"})
    path = f"/v2/searches/{first['search_id']}"
    assert await rest.ok("GET", path) == first

    await rest.ok("PATCH", f"/v2/notes/{names[0]}", {"text": "Lamp number 0 is red."})
    await rest.call("DELETE", f"/v2/notes/{names[1]}")
    again = await rest.ok("GET", path)
    assert [item["note_id"] for item in again["items"]] == [names[2]]
    assert again["dropped"] == 2
    await rest.problem(404, "GET", f"/v2/searches/{uuid4()}")


@embedded_only
async def test_full_notes_are_taken_out_of_a_search_and_recorded(rest: Rest, tmp_path: Path) -> None:
    name = (await rest.ok("POST", "/v2/notes", {"text": HALL}))["note_id"]
    answer = await rest.ok("POST", "/v2/searches", {"query": "lamp 12"})
    path = f"/v2/searches/{answer['search_id']}/notes"
    chunk_id = answer["items"][0]["chunk_id"]
    taken = await rest.ok("POST", path, {"note_ids": [name, chunk_id, "note_none"]})
    assert [note["text"] for note in taken["notes"]] == [HALL]
    assert taken["missing"] == ["note_none"]
    with closing(sqlite3.connect(tmp_path / "data" / FILE)) as store:
        opened = "SELECT public_id, rank FROM memory_hits JOIN memory_notes USING (note_id)"
        assert store.execute(opened).fetchall() == [(name, 1)]


async def test_a_session_keeps_no_word_of_what_was_found(rest: Rest) -> None:
    await rest.ok("POST", "/v2/notes", {"text": "canary-9001 sings"})
    answer = await rest.ok("POST", "/v2/searches", {"query": "canary-9001"})
    session = await rest.services.search_log.session("default", UUID(answer["search_id"]))
    assert session is not None
    assert "canary" not in str(replace(session, query=None))


async def test_an_empty_store_says_so(rest: Rest) -> None:
    answer = await rest.ok("POST", "/v2/searches", {"query": "anything"})
    assert (answer["items"], answer["reason"]) == ([], "nothing_stored")


async def test_traces_that_are_not_there_are_not_found(rest: Rest) -> None:
    for path in ("traces", "trace-items"):
        assert (await rest.problem(404, "GET", f"/v2/admin/{path}/{uuid4()}"))["code"] == "not_found"


async def test_a_search_can_be_traced_to_its_candidates(rest: Rest) -> None:
    note = await rest.ok("POST", "/v2/notes?wait=indexed", {"text": HALL})
    found = await rest.ok("POST", "/v2/searches", {"query": HALL[:60]})
    trace = await rest.ok("GET", f"/v2/admin/traces/{found['trace_id']}")
    assert trace["search_id"] == found["search_id"]
    assert {one["public_id"] for one in trace["candidates"]} == {note["note_id"]}
    assert trace["candidates"][0]["outcome"] == "returned"
    item = await rest.ok("GET", f"/v2/admin/trace-items/{trace['items'][0]['item_id']}")
    assert item["chunk_id"] == trace["items"][0]["chunk_id"]
    assert item["scores"]["score"] > 0
    hit = found["items"][0]
    for named in (trace["items"][0], item):
        assert (named["note_id"], named["chunk_id"]) == (hit["note_id"], hit["chunk_id"])
    assert (hit["note_id"], item["outcome"]) == (note["note_id"], "returned")
    assert item["why"].startswith("Returned at place 1: score")
    explained = await rest.ok("GET", f"/v2/searches/{found['search_id']}/explain?note={note['note_id']}")
    assert explained["note"]["why"] == item["why"]
    assert (explained["items"][0]["note_id"], explained["items"][0]["chunk_id"]) == (hit["note_id"], hit["chunk_id"])


async def test_an_item_says_where_it_comes_from(rest: Rest) -> None:
    at = "2026-01-02T03:04:05Z"
    name = (await rest.ok("POST", "/v2/events", {"text": "The bell rang.", "occurred_at": at}))["note_id"]
    answer = await rest.ok("POST", "/v2/searches", {"query": "bell"})
    item, note = answer["items"][0], await rest.ok("GET", f"/v2/notes/{name}")
    model = rest.services.embedder.model
    assert (item["ts"], item["ingested_at"]) == (at, note["ingested_at"])
    assert (item["embedding_model"], item["embedding_dimensions"]) == (model.name, model.dimensions)
    assert (await rest.ok("GET", f"/v2/searches/{answer['search_id']}"))["items"] == [item]


@pytest.mark.parametrize("value", ["yes", 1, "true", 0.0, [], {}])
async def test_a_flag_is_true_or_false(rest: Rest, value: object) -> None:
    assert (await rest.problem(422, "POST", "/v2/searches", {"query": "bell", "stitch": value}))["code"] == "invalid"
    assert (await rest.problem(422, "PATCH", "/v2/notes/x", {"resolved": value}))["code"] == "invalid"


async def test_unknown_paths_and_methods_are_problems(rest: Rest) -> None:
    assert (await rest.problem(404, "GET", "/v2/nothing"))["code"] == "not_found"
    response = await rest.call("PUT", "/v2/searches")
    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
    assert response.headers["allow"] == "POST"


async def test_the_index_is_rebuilt_over_rest(rest: Rest) -> None:
    await rest.ok("POST", "/v2/notes?wait=indexed", {"text": HALL})
    started = await rest.call("POST", "/v2/admin/index/rebuild", {"rechunk": True})
    assert started.status_code == 202
    while (report := await rest.ok("GET", "/v2/admin/index/rebuild"))["state"] in ("rechunking", "running"):
        assert (await rest.ok("POST", "/v2/searches", {"query": "lamp"}))["items"]
    assert report["state"] == "done"
    assert report["rebuilt"] == report["chunks"] > 1
    assert (report["missing_vectors"], report["errors"], report["rechunked"]) == (0, 0, 0)


async def test_the_outbox_is_told_of(rest: Rest) -> None:
    outbox = await rest.ok("GET", "/v2/admin/outbox")
    assert (outbox["dead"], outbox["dead_letters"]) == (0, [])
    assert await rest.ok("POST", "/v2/admin/outbox/retry") == {"retried": 0}


async def test_every_route_is_described_with_examples(rest: Rest) -> None:
    schema = await rest.ok("GET", "/openapi.json")
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            assert operation["description"], where
            assert {"401", "403", "413", "421", "422", "503"} <= operation["responses"].keys(), where
            assert "application/problem+json" in operation["responses"]["422"]["content"], where
            good = [answer for status, answer in operation["responses"].items() if status < "204"]
            names = set(re.findall(r"#/components/schemas/(\w+)", json.dumps([answer["content"] for answer in good])))
            assert names <= EXAMPLES.keys(), where
    for name in ("NoteIn", "EventIn", "MemoryIn", "ArtifactIn", "TurnIn", "NotePatch", "SearchIn", "Chosen"):
        assert schema["components"]["schemas"][name]["examples"], name


@pytest.mark.parametrize(
    "model",
    [
        *(schemas.NoteOut, writes.Receipt, notes.NotePage),
        *(notes.TextOut, conversations.Conversations, conversations.TurnPage, artifacts.ReembeddedArtifactOut),
        *(searches.SearchOut, searches.ChosenNotes),
        *(traces.TraceOut, traces.Explanation, traces.ExplainedItem),
        *(admin.RebuildOut, admin.OutboxOut, admin.Retried, admin.TrashOut),
        *(admin.EmbeddingOut, admin.EmbeddingHealthOut, admin.Forgotten),
    ],
)
def test_an_example_is_an_answer(model: type[BaseModel]) -> None:
    example = EXAMPLES[model.__name__]
    assert model.model_validate(example).model_dump(mode="json", exclude_unset=True) == example


async def test_an_item_names_the_notes_that_it_stands_for(rest: Rest) -> None:
    names = [
        (await rest.ok("POST", "/v2/notes", {"text": text}))["note_id"]
        for text in ("The lamp in the hall is green.", "The lamp in the hall is green!", "The door is shut.")
    ]
    answer = await rest.ok("POST", "/v2/searches", {"query": "green lamp hall"})
    item = answer["items"][0]
    assert {item["note_id"], *item["duplicates"]} == set(names[:2])
    assert (await rest.ok("GET", f"/v2/searches/{answer['search_id']}"))["items"] == answer["items"]
