"""Notes over REST, on a real store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from nur.domain.access import LOCAL, WriteContext
from nur.domain.chunks import sha256
from nur.domain.writes import OnEmbeddingFailure
from nur.observability.events import traced
from tests.callers import LOCAL_CALLER
from tests.note_world import LONG
from tests.profiles import embedded_only
from tests.rest_client import Rest, open_rest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

REJECT = OnEmbeddingFailure.REJECT
WORDS = "harbour mill bridge orchard chapel market tower meadow quarry ferry lighthouse stable".split()


@pytest.fixture
async def rest() -> AsyncIterator[Rest]:
    async with open_rest() as opened:
        yield opened


async def test_a_note_is_stored_read_edited_and_deleted(rest: Rest) -> None:
    body = {
        "text": "The lamp in the hall is green.",
        "type": "fact",
        "key": "lamp",
        "project": "house",
        "importance": 0.5,
        "source": {"system": "eyes", "url": "https://example.com/lamp"},
        "metadata": {"room": {"floor": 1}},
    }
    created = await rest.call("POST", "/v2/notes?wait=indexed", body)
    assert created.status_code == 201
    receipt = created.json()
    name = receipt["note_id"]
    assert name.startswith("note_")
    assert (receipt["operation"], receipt["index_state"], receipt["near_duplicates"]) == ("created", "indexed", [])
    assert created.headers["location"] == f"/v2/notes/{name}"

    read = await rest.call("GET", f"/v2/notes/{name}?chunks=true")
    note = read.json()
    assert read.headers["etag"] == created.headers["etag"] == '"1"'
    assert {field: note[field] for field in ("text", "type", "key", "project", "importance", "metadata")} == {
        field: body[field] for field in ("text", "type", "key", "project", "importance", "metadata")
    }
    assert note["chunks"][0]["embedded"]
    assert note["index_state"] == "indexed"
    assert note["source"] == {"system": "eyes", "id": None, "url": "https://example.com/lamp"}

    edited = await rest.ok(
        "PATCH", f"/v2/notes/{name}", {"text": "The lamp is red.", "importance": None}, If_Match='"1"'
    )
    assert (edited["operation"], edited["revision"], edited["version"]) == ("replaced", 2, 2)
    note = await rest.ok("GET", f"/v2/notes/{name}")
    assert (note["text"], note["importance"], note["key"]) == ("The lamp is red.", None, "lamp")

    assert (await rest.call("DELETE", f"/v2/notes/{name}", If_Match='"2"')).status_code == 204
    assert (await rest.problem(404, "GET", f"/v2/notes/{name}"))["code"] == "not_found"
    assert (await rest.problem(404, "DELETE", f"/v2/notes/{name}"))["code"] == "not_found"


async def test_the_same_text_is_unchanged_and_the_same_key_replaced(rest: Rest) -> None:
    first = await rest.ok("POST", "/v2/notes", {"text": "Tea at four."})
    again = await rest.call("POST", "/v2/notes", {"text": "Tea at four."})
    assert again.status_code == 200
    assert (again.json()["operation"], again.json()["note_id"]) == ("unchanged", first["note_id"])
    keyed = await rest.ok("POST", "/v2/notes", {"text": "12", "key": "code"})
    other = await rest.ok("POST", "/v2/notes", {"text": "34", "key": "code"})
    assert (other["operation"], other["note_id"]) == ("replaced", keyed["note_id"])


async def test_a_key_names_a_note_within_its_kind(rest: Rest) -> None:
    event = await rest.ok("POST", "/v2/events", {"text": "Released build 812.", "key": "rel"})
    note = await rest.ok("POST", "/v2/notes", {"text": "Release checklist: tag, build, announce.", "key": "rel"})
    assert note["operation"] == "created"
    assert note["note_id"].startswith("note_")
    for stored, kind, text in (
        (event, "event", "Released build 812."),
        (note, "note", "Release checklist: tag, build, announce."),
    ):
        read = await rest.ok("GET", f"/v2/notes/{stored['note_id']}")
        assert (read["kind"], read["key"], read["text"], read["version"]) == (kind, "rel", text, 1)
    again = await rest.ok("POST", "/v2/events", {"text": "Released build 813.", "key": "rel"})
    assert (again["operation"], again["note_id"]) == ("replaced", event["note_id"])


async def test_a_note_from_a_source_is_replaced_and_events_from_one_are_many(rest: Rest) -> None:
    source = {"system": "github", "id": "issues/5"}
    first = await rest.ok("POST", "/v2/notes", {"text": "The gate is open.", "source": source})
    again = await rest.ok("POST", "/v2/notes", {"text": "The gate is shut.", "source": source})
    assert (again["operation"], again["note_id"], again["version"]) == ("replaced", first["note_id"], 2)
    other = await rest.ok("POST", "/v2/notes", {"text": "The gate.", "source": {**source, "id": "issues/6"}})
    assert other["operation"] == "created"
    opened = await rest.ok("POST", "/v2/events", {"text": "Issue opened.", "source": source})
    closed = await rest.ok("POST", "/v2/events", {"text": "Issue closed.", "source": source})
    assert (opened["operation"], closed["operation"]) == ("created", "created")
    clash = {"source": {**source, "id": "issues/5"}}
    problem = await rest.problem(409, "PATCH", f"/v2/notes/{other['note_id']}", clash)
    assert "key, source or text" in problem["detail"]


async def test_an_event_has_its_time(rest: Rest) -> None:
    at = "2026-01-02T03:04:05Z"
    event = await rest.ok("POST", "/v2/events", {"text": "The bell rang.", "occurred_at": at})
    later = await rest.ok("POST", "/v2/events", {"text": "The bell rang.", "occurred_at": "2026-01-02T03:05:05+00:00"})
    assert event["note_id"].startswith("evt_")
    assert later["note_id"] != event["note_id"]
    assert (await rest.ok("GET", f"/v2/notes/{event['note_id']}"))["occurred_at"] == at


async def test_every_kind_is_read_described_and_deleted_by_its_public_id(rest: Rest) -> None:
    services = rest.services
    memory = await rest.ok("POST", "/v2/memories", {"text": "Prefers tea.", "type": "preference"})
    turn = await services.append_turn(
        "a/b c", 0, role="user", content="Hello.", caller=LOCAL_CALLER, on_failure=services.on_failure.for_others
    )
    names = [memory["note_id"], turn.note.public_id.replace("/", "%2F")]
    for name in names:
        changed = await rest.ok("PATCH", f"/v2/notes/{name}", {"title": "A title"})
        assert changed["operation"] == "metadata_updated"
        assert (await rest.ok("GET", f"/v2/notes/{name}"))["title"] == "A title"
        assert (await rest.call("DELETE", f"/v2/notes/{name}")).status_code == 204
        assert (await rest.call("GET", f"/v2/notes/{name}")).status_code == 404


@pytest.mark.parametrize(
    ("patch", "word"),
    [
        ({"text": "other"}, "text"),  # a turn is appended again
        ({"key": "k"}, "key"),  # a turn has none
    ],
)
async def test_what_a_kind_does_not_have_is_refused(rest: Rest, patch: dict[str, Any], word: str) -> None:
    services = rest.services
    turn = await services.append_turn(
        "c", 0, role="user", content="Hello.", caller=LOCAL_CALLER, on_failure=services.on_failure.for_others
    )
    problem = await rest.problem(400, "PATCH", f"/v2/notes/{turn.note.public_id}", patch)
    assert word in problem["detail"]


async def test_a_stale_condition_changes_nothing(rest: Rest) -> None:
    name = (await rest.ok("POST", "/v2/notes", {"text": "Tea."}))["note_id"]
    await rest.ok("PATCH", f"/v2/notes/{name}", {"title": "a"})
    for condition in ('"1"', '"banana"', '"1", "2"', '"99999999999999999999"'):
        stale = await rest.problem(412, "PATCH", f"/v2/notes/{name}", {"title": "b"}, If_Match=condition)
        assert stale["code"] == "stale_revision"
        assert (await rest.problem(412, "DELETE", f"/v2/notes/{name}", If_Match=condition))["status"] == 412
    assert (await rest.ok("GET", f"/v2/notes/{name}"))["title"] == "a"
    await rest.ok("PATCH", f"/v2/notes/{name}", {"title": "c"}, If_Match="*")


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v2/events", '{"text":"The bell rang."}', 201),  # done again it would be a second event
        ("PATCH", "/v2/notes/{name}", '{"title":"Bell"}', 200),
        ("PATCH", "/v2/notes/{name}", '{"text":"The bell rang twice."}', 200),
        ("DELETE", "/v2/notes/{name}", "", 204),  # done again it would be not found
    ],
)
async def test_a_call_that_died_before_its_answer_is_not_done_again(
    rest: Rest, method: str, path: str, body: str, status: int
) -> None:
    services, json = rest.services, {"Content-Type": "application/json"}
    key = {"Idempotency-Key": "k", **json}
    path = path.format(name=(await rest.ok("POST", "/v2/notes", {"text": "A note."}))["note_id"])
    earlier = services.clock.now() - timedelta(minutes=2)
    with traced("dead"):  # the write of a call whose process died before it could answer
        asked = sha256(f"{method} {path}?\n{body}")
        context = WriteContext(LOCAL, "dead", earlier)
        assert await services.stores.idempotency.reserve("local:k", asked, context) is None
        assert (await rest.client.request(method, path, content=body, headers=json)).status_code == status
    before = (await rest.ok("GET", "/v2/notes?text=true"))["notes"]

    late = await rest.client.request(method, path, content=body, headers=key)
    assert late.status_code == status
    if status != 204:
        note = next(note for note in before if note["note_id"] == late.json()["note_id"])
        assert late.headers["etag"] == f'"{note["revision"]}"'
    assert (await rest.ok("GET", "/v2/notes?text=true"))["notes"] == before
    replayed = await rest.client.request(method, path, content=body, headers=key)
    assert (replayed.status_code, replayed.content) == (status, late.content)


async def test_a_call_under_an_idempotency_key_is_done_once(rest: Rest) -> None:
    body = {"text": "The bell rang."}
    first = await rest.call("POST", "/v2/events", body, Idempotency_Key="k1")
    again = await rest.call("POST", "/v2/events", body, Idempotency_Key="k1")
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["etag"] == first.headers["etag"]
    assert len((await rest.ok("GET", "/v2/notes?kind=event"))["notes"]) == 1

    reused = await rest.problem(422, "POST", "/v2/events", {"text": "Another."}, Idempotency_Key="k1")
    assert reused["code"] == "idempotency_key_reused"
    name = first.json()["note_id"]
    for _ in range(2):
        assert (await rest.call("DELETE", f"/v2/notes/{name}", Idempotency_Key="k2")).status_code == 204


async def test_a_call_that_failed_may_be_made_again_under_its_key(rest: Rest) -> None:
    await rest.problem(404, "PATCH", "/v2/notes/note_none", {"title": "a"}, Idempotency_Key="k")
    await rest.problem(404, "PATCH", "/v2/notes/note_none", {"title": "a"}, Idempotency_Key="k")


async def test_a_listing_is_paged_and_filtered(rest: Rest) -> None:
    for i in range(7):
        await rest.ok("POST", "/v2/notes", {"text": f"Note {i}.", "project": "even" if i % 2 == 0 else "odd"})
    seen, cursor = [], None
    while True:
        page = await rest.ok("GET", "/v2/notes?limit=3" + (f"&cursor={cursor}" if cursor else ""))
        seen += [note["preview"] for note in page["notes"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [f"Note {i}." for i in reversed(range(7))]
    even = await rest.ok("GET", "/v2/notes?project=even&text=true")
    assert [note["text"] for note in even["notes"]] == ["Note 6.", "Note 4.", "Note 2.", "Note 0."]
    assert (await rest.problem(400, "GET", "/v2/notes?cursor=banana"))["code"] == "bad_request"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body.text"),  # nothing at all
        ({"text": ""}, "body.text"),
        ({"text": " \n "}, "body.text"),  # blanks alone
        ({"text": "a\0b"}, "body.text"),
        ({"text": "a\ud800"}, "body.text"),  # a lone surrogate
        ({"text": "x", "importance": 1.5}, "body.importance"),
        ({"text": "x", "ttl_days": 0}, "body.ttl_days"),
        ({"text": "x", "expires_at": "yesterday"}, "body.expires_at"),
        ({"text": "x", "expires_at": "0001-01-01T00:00:00+14:00"}, "body.expires_at"),  # before the year 1
        ({"text": "x", "source": {"url": "not a url"}}, "body.source.url"),
        ({"text": "x", "source": {"url": "javascript:alert(1)"}}, "body.source.url"),
        ({"text": "x", "source": {"url": "abc:def"}}, "body.source.url"),
        ({"text": "x", "metadata": {"a": "b" * 70_000}}, "body.metadata"),
        ({"text": "x", "metadata": {"a": [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}}, "body.metadata"),
        ({"text": "x", "banana": 1}, "body.banana"),
    ],
)
async def test_bad_bodies_are_refused_field_by_field_without_their_values(
    rest: Rest, body: dict[str, Any], field: str
) -> None:
    import json

    response = await rest.client.post(
        "/v2/notes", content=json.dumps(body), headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 422, response.text
    problem = response.json()
    assert problem["code"] == "invalid"
    assert field in [error["field"] for error in problem["errors"]]
    assert "b" * 100 not in response.text


async def test_times_that_contradict_each_other_are_refused(rest: Rest) -> None:
    later = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    for body in (
        {"text": "x", "ttl_days": 1, "expires_at": later},
        {"text": "x", "expires_at": "2020-01-01T00:00:00Z"},
        {"text": "x", "retention_policy": "custom"},
    ):
        assert (await rest.problem(400, "POST", "/v2/notes", body))["code"] == "bad_request"


@pytest.mark.parametrize("path", ["/v2/notes", "/v2/events"])
async def test_sensitive_sources_protect_notes_and_events(rest: Rest, path: str) -> None:
    body = {"text": "The knee is operated in May.", "source": {"system": "Medical"}}
    name = (await rest.ok("POST", path, body))["note_id"]
    note = await rest.ok("GET", f"/v2/notes/{name}")
    assert (note["sensitivity"], note["visibility_scope"]) == ("highly_sensitive", "me")
    open_to_all = {"text": "Opening hours.", "sensitivity": "normal", "visibility_scope": "org"}
    name = (await rest.ok("POST", path, {**body, **open_to_all}))["note_id"]
    note = await rest.ok("GET", f"/v2/notes/{name}")
    assert (note["sensitivity"], note["visibility_scope"]) == ("normal", "org")


async def test_a_note_stored_again_keeps_what_protects_it(rest: Rest) -> None:
    stated = {"sensitivity": "sensitive", "visibility_scope": "team", "ttl_days": 9}
    name = (await rest.ok("POST", "/v2/notes", {"text": "12", "key": "code", **stated}))["note_id"]
    before = await rest.ok("GET", f"/v2/notes/{name}")
    assert (await rest.ok("POST", "/v2/notes", {"text": "12", "key": "code"}))["operation"] == "unchanged"
    assert (await rest.ok("POST", "/v2/notes", {"text": "34", "key": "code"}))["operation"] == "replaced"
    after = await rest.ok("GET", f"/v2/notes/{name}")
    for field in ("sensitivity", "visibility_scope", "retention_policy", "expires_at"):
        assert after[field] == before[field]
    memory = {"text": "Takes the blue pills."}
    name = (await rest.ok("POST", "/v2/memories", memory))["note_id"]
    await rest.ok("PATCH", f"/v2/notes/{name}", {"sensitivity": "sensitive"})
    assert (await rest.ok("POST", "/v2/memories", memory))["operation"] == "unchanged"


async def test_a_note_that_is_given_a_sensitive_source_becomes_sensitive(rest: Rest) -> None:
    name = (await rest.ok("POST", "/v2/notes", {"text": "Knee.", "visibility_scope": "team"}))["note_id"]
    await rest.ok("PATCH", f"/v2/notes/{name}", {"source": {"system": "medical"}})
    note = await rest.ok("GET", f"/v2/notes/{name}")
    assert (note["sensitivity"], note["visibility_scope"]) == ("highly_sensitive", "me")
    await rest.ok("PATCH", f"/v2/notes/{name}", {"source": {"system": "medical", "id": "1"}, "sensitivity": "normal"})
    assert (await rest.ok("GET", f"/v2/notes/{name}"))["sensitivity"] == "normal"


async def test_a_note_is_kept_forever_again(rest: Rest) -> None:
    name = (await rest.ok("POST", "/v2/notes", {"text": "Tea.", "retention_policy": "1y"}))["note_id"]
    await rest.ok("PATCH", f"/v2/notes/{name}", {"retention_policy": "forever"})
    note = await rest.ok("GET", f"/v2/notes/{name}")
    assert (note["retention_policy"], note["expires_at"]) == ("forever", None)


async def test_a_note_kept_until_resolved_goes_with_its_resolution(rest: Rest) -> None:
    body = {"text": "The tap drips.", "retention_policy": "until_resolved"}
    name = (await rest.ok("POST", "/v2/notes", body))["note_id"]
    await rest.services.housekeeping.once()
    assert (await rest.ok("GET", f"/v2/notes/{name}"))["resolved_at"] is None
    await rest.ok("PATCH", f"/v2/notes/{name}", {"resolved": True})
    await rest.problem(404, "GET", f"/v2/notes/{name}")
    assert await rest.services.housekeeping.once() == 1
    (gone,) = (await rest.ok("GET", "/v2/admin/trash"))["notes"]
    assert gone["note_id"] == name
    restored = await rest.ok("POST", "/v2/admin/trash/restore", {"note_id": name})
    assert restored["operation"] == "created"
    assert (await rest.ok("GET", f"/v2/notes/{name}"))["text"] == "The tap drips."


async def test_a_restored_note_keeps_its_place_in_the_list(rest: Rest) -> None:
    older, newer = [(await rest.ok("POST", "/v2/notes", {"text": text}))["note_id"] for text in ("Older.", "Newer.")]
    stored_at = (await rest.ok("GET", f"/v2/notes/{older}"))["ingested_at"]
    await rest.call("DELETE", f"/v2/notes/{older}")
    await rest.ok("POST", "/v2/admin/trash/restore", {"note_id": older})
    assert (await rest.ok("GET", f"/v2/notes/{older}"))["ingested_at"] == stored_at
    assert [note["note_id"] for note in (await rest.ok("GET", "/v2/notes"))["notes"]] == [newer, older]


async def test_a_purged_note_is_gone_for_good(rest: Rest) -> None:
    name = (await rest.ok("POST", "/v2/notes?wait=indexed", {"text": "canary-5521 sings"}))["note_id"]
    await rest.ok("PATCH", f"/v2/notes/{name}", {"text": "canary-5521 is silent"})
    assert (await rest.call("POST", "/v2/admin/trash/purge", {"note_id": name})).status_code == 204
    await rest.problem(404, "POST", "/v2/admin/trash/restore", {"note_id": name})
    await rest.problem(404, "GET", f"/v2/notes/{name}")
    found = await rest.ok("POST", "/v2/searches", {"query": "canary-5521"})
    assert found["items"] == []


@embedded_only
async def test_a_purge_leaves_no_question_that_found_the_note_and_no_conversation(rest: Rest, tmp_path: Path) -> None:
    services = rest.services
    turn = await services.append_turn(
        "canary-6632", 0, role="user", content="The gate code is 4711.", caller=LOCAL_CALLER, on_failure=REJECT
    )
    await rest.ok("POST", "/v2/notes", {"text": "Buy rye bread."})
    question = await rest.ok("POST", "/v2/searches", {"query": "canary-7743 what is the gate code", "top_k": 1})
    assert [item["note_id"] for item in question["items"]] == [turn.note.public_id]
    other = await rest.ok("POST", "/v2/searches", {"query": "canary-8854 rye bread", "mode": "lexical"})
    await services.search_log.flush()
    stored = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("nur.db*"))
    assert b"canary-6632" in stored
    assert b"canary-7743" in stored

    await rest.ok("POST", "/v2/admin/trash/purge", {"note_id": turn.note.public_id})

    stored = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("nur.db*"))
    assert b"canary-6632" not in stored
    assert b"canary-7743" not in stored
    await rest.problem(404, "GET", f"/v2/admin/traces/{question['trace_id']}")
    assert (await rest.ok("GET", f"/v2/admin/traces/{other['trace_id']}"))["query"] == "canary-8854 rye bread"


async def test_a_search_just_answered_is_forgotten_with_the_note(rest: Rest) -> None:
    name = (await rest.ok("POST", "/v2/notes", {"text": "The gate code is 4711."}))["note_id"]
    question = await rest.ok("POST", "/v2/searches", {"query": "gate code"})  # its trace waits to be written
    await rest.ok("POST", "/v2/admin/trash/purge", {"note_id": name})
    await rest.problem(404, "GET", f"/v2/admin/traces/{question['trace_id']}")


async def test_near_duplicates_are_reported_after_indexing(rest: Rest) -> None:
    first = await rest.ok(
        "POST", "/v2/notes?wait=indexed", {"text": "The green lamp in the long hall burns all night."}
    )
    text = "The green lamp in the long hall burns all the night."
    second = await rest.ok("POST", "/v2/notes?wait=indexed", {"text": text})
    assert [near["note_id"] for near in second["near_duplicates"]] == [first["note_id"]]
    again = await rest.ok("GET", f"/v2/notes/{second['note_id']}?near_duplicates=true")
    assert again["near_duplicates"] == second["near_duplicates"]


@pytest.mark.parametrize(
    ("text", "is_near"),
    [
        ("Our flight was delayed by three hours due to the fog", True),  # an edited copy
        ("Because of fog our flight was delayed by three hours.", True),  # in other words
        ("Our luggage was lost on the way back from Oslo.", False),  # the same subject
        ("The soup tastes better with a spoon of miso.", False),
    ],
)
async def test_copies_and_paraphrases_are_near(rest: Rest, text: str, is_near: bool) -> None:
    first = await rest.ok(
        "POST", "/v2/notes?wait=indexed", {"text": "Our flight was delayed by three hours due to fog."}
    )
    second = await rest.ok("POST", "/v2/notes?wait=indexed", {"text": text})
    assert [near["note_id"] for near in second["near_duplicates"]] == ([first["note_id"]] if is_near else [])


async def test_another_number_is_another_fact(rest: Rest) -> None:
    for text in ("Sprint 12 ended two days late.", "Sprint 13 ended two days late."):
        stored = await rest.ok("POST", "/v2/notes?wait=indexed", {"text": text})
        assert stored["near_duplicates"] == []


async def test_a_copy_is_found_among_many_notes_of_the_same_form(rest: Rest) -> None:
    form = "Invoice {} of the harbour office was paid by bank transfer on Monday."
    copy = "Invoice 107 of the harbour office was paid on Monday by bank transfer, says Ann."
    copied = await rest.ok("POST", "/v2/notes?wait=indexed", {"text": copy})
    for number in range(1, 16):
        await rest.ok("POST", "/v2/notes", {"text": form.format(number)})
    stored = await rest.ok("POST", "/v2/notes?wait=indexed", {"text": form.format(107)})
    assert [near["note_id"] for near in stored["near_duplicates"]] == [copied["note_id"]]


async def test_a_long_note_is_near_its_edited_copy_and_not_near_one_of_the_same_form(rest: Rest) -> None:
    form = " ".join(f"Room {i} was inspected and the lamp over the door was found in order." for i in range(90))
    report = [f"On day {i} the keeper of the {word} wrote a letter." for i, word in enumerate(WORDS * 4)]
    texts = [
        f"{form} {' '.join(report)}",
        f"{form} {' '.join([*report[:20], 'Nobody came that evening.', *report[21:]])}",
        f"{form} {' '.join(f'The {word} was painted by the people of the village.' for word in WORDS * 4)}",
    ]
    original, copy, other = [await rest.ok("POST", "/v2/notes?wait=indexed", {"text": text}) for text in texts]
    assert copy["chunk_count"] > 2
    assert [near["note_id"] for near in copy["near_duplicates"]] == [original["note_id"]]
    assert other["near_duplicates"] == []


async def test_chunks_are_slices_of_the_note(rest: Rest) -> None:
    name = (await rest.ok("POST", "/v2/notes", {"text": LONG}))["note_id"]
    note = await rest.ok("GET", f"/v2/notes/{name}?chunks=true")
    assert len(note["chunks"]) == note["chunk_count"] > 1
    for chunk in note["chunks"]:
        assert chunk["text"] == note["text"][chunk["start_char"] : chunk["end_char"]]
        assert chunk["token_count"] <= 512


@pytest.mark.parametrize(
    ("content", "content_type", "status", "words"),
    [
        (b"{bad", "application/json", 400, "The body is not valid JSON."),
        (b'{"text": "x"}', "text/plain", 422, "body: must be a JSON object, sent with Content-Type: application/json"),
        (b'{"text": "  "}', "application/json", 422, "body.text: must hold more than blanks, and no NUL character"),
        (b'{"text": "x", "key": "a\\u0000"}', "application/json", 422, "body.key: must not hold a NUL character"),
    ],
)
async def test_a_body_that_cannot_be_used_is_answered_in_words(
    rest: Rest, content: bytes, content_type: str, status: int, words: str
) -> None:
    answer = await rest.client.post("/v2/notes", content=content, headers={"Content-Type": content_type})
    assert (answer.status_code, answer.json()["detail"]) == (status, words)
