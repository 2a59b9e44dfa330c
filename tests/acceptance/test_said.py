"""When something was said: stated with every write, shown in every hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.rest_client import open_rest, rest_of

if TYPE_CHECKING:
    from tests.acceptance.conftest import OpenDoor

KEPT = "2026-05-08T10:00:00Z"  #: noon of 2026-05-08 in Berlin
DATED = "[said 2026-05-08]"


async def test_a_memory_and_a_turn_are_found_with_when_they_were_said(open_door: OpenDoor) -> None:
    async with open_door(nur_timezone="Europe/Berlin") as nur:
        await nur.data("memory_store", content="The boat is blue.", type="fact", confidence=1.0, ts="2026-05-08")
        await nur.data(
            "history_append",
            conversation_id="c",
            role="user",
            content="The boat leaks.",
            turn_index=0,
            ts="2026-05-08T00:30:00",
        )
        assert (await nur.text("memory_search", query="boat")).endswith(f"The boat is blue. {DATED}")
        everywhere = {"query": "boat", "include_memory": True, "include_history": True}
        text = await nur.text("hybrid_search", **everywhere)
        assert text.count("\nWhen: said 2026-05-08") == 2
        hits = (await nur.data("hybrid_search", **everywhere))["hits"]
        assert {hit["provenance"]["ts"] for hit in hits} == {KEPT, "2026-05-07T22:30:00Z"}


async def test_an_artifact_is_found_with_its_date(open_door: OpenDoor) -> None:
    async with open_door(nur_timezone="Europe/Berlin") as nur:
        await nur.data(
            "artifact_ingest", artifact_type="doc", source_system="drive", content="The boat is blue.", ts="2026-05-08"
        )
        for tool in ("artifact_search", "hybrid_search"):
            assert (await nur.text(tool, query="boat")).endswith('"...The boat is blue...."\nWhen: said 2026-05-08')


async def test_hits_carry_the_times_that_they_name(open_door: OpenDoor) -> None:
    async with open_door(nur_timezone="Europe/Berlin") as nur:
        await nur.data(
            "memory_store", content="We sold the boat yesterday.", type="fact", confidence=1.0, ts="2026-05-08"
        )
        told = '2026-05-07 "yesterday", said 2026-05-08'
        assert (await nur.text("memory_search", query="boat")).endswith(f"the boat yesterday. [{told}]")
        everywhere = {"query": "boat", "include_memory": True}
        assert (await nur.text("hybrid_search", **everywhere)).endswith(f"\nWhen: {told}")
        found = await nur.data("hybrid_search", **everywhere)
        assert found["hits"][0]["times"] == [{"quote": "yesterday", "from": "2026-05-07"}]
        found = await nur.data("hybrid_search", **everywhere, response_format="detailed")
        time: dict[str, object] = {
            "quote": "yesterday",
            "from": "2026-05-07",
            "to": "2026-05-07",
            "grain": "day",
            "anchor": "said",
        }
        time |= {"start_char": 17, "end_char": 26}
        assert found["hits"][0]["times"] == [time]
        async with rest_of(nur.services) as rest:
            answer = await rest.ok("POST", "/v2/searches", {"query": "boat"})
            assert answer["items"][0]["times"] == [time]
            again = await rest.ok("GET", f"/v2/searches/{answer['search_id']}")
            assert again["items"][0]["times"] == [time]


async def test_what_nobody_dated_was_said_when_it_was_stored(open_door: OpenDoor) -> None:
    async with open_door(nur_timezone="UTC") as nur:
        await nur.data("memory_store", content="The boat is blue.", type="fact", confidence=1.0)
        today = nur.services.clock.now().date()
        assert (await nur.text("memory_search", query="boat")).endswith(f"[said {today}]")


async def test_storing_again_keeps_the_time_unless_another_is_stated(open_door: OpenDoor) -> None:
    async with open_door(nur_timezone="Europe/Berlin") as nur:
        memory = {"content": "The boat is blue.", "type": "fact", "confidence": 1.0}
        outcomes = [
            (await nur.data("memory_store", **memory, **stated))["outcome"]
            for stated in ({"ts": "2026-05-08"}, {}, {"ts": "2026-05-09"})
        ]
        assert outcomes == ["created", "unchanged", "metadata_updated"]
        assert (await nur.text("memory_search", query="boat")).endswith("[said 2026-05-09]")


async def test_a_time_that_is_none_is_refused(open_door: OpenDoor) -> None:
    async with open_door() as nur:
        refused = await nur.refusal("memory_store", content="x", type="fact", confidence=1.0, ts="yesterday")
        assert refused == "ts must be an ISO 8601 time such as 2025-12-25T10:30:00Z, or a date such as 2025-12-25"
        async with rest_of(nur.services) as rest:
            problem = await rest.problem(422, "POST", "/v2/memories", {"text": "x", "ts": 12})
            assert "ts" in str(problem)


async def test_every_rest_write_takes_the_time() -> None:
    async with open_rest(nur_timezone="Europe/Berlin") as rest:
        for path, body in (
            ("/v2/memories", {"text": "The boat is blue."}),
            ("/v2/notes", {"text": "The boat is green."}),
            ("/v2/events", {"text": "The boat sank."}),
        ):
            name = (await rest.ok("POST", path, {**body, "ts": "2026-05-08"}))["note_id"]
            assert (await rest.ok("GET", f"/v2/notes/{name}"))["occurred_at"] == KEPT
            await rest.ok("PATCH", f"/v2/notes/{name}", {"ts": "2026-05-09T12:00:00Z"})
            assert (await rest.ok("GET", f"/v2/notes/{name}"))["occurred_at"] == "2026-05-09T12:00:00Z"
        items = (await rest.ok("POST", "/v2/searches", {"query": "boat"}))["items"]
        assert [item["ts"] for item in items] == ["2026-05-09T12:00:00Z"] * 3


async def test_the_older_name_of_the_time_still_counts_and_both_are_too_many() -> None:
    async with open_rest(nur_timezone="Europe/Berlin") as rest:
        name = (await rest.ok("POST", "/v2/notes", {"text": "A.", "occurred_at": "2026-05-08"}))["note_id"]
        assert (await rest.ok("GET", f"/v2/notes/{name}"))["occurred_at"] == KEPT
        both = {"text": "B.", "occurred_at": "2026-05-08", "ts": "2026-05-08"}
        assert "send one of them" in str(await rest.problem(422, "POST", "/v2/notes", both))
