"""Times in questions: they push what was said then, or speaks of then, and filter nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.rest_client import open_rest

if TYPE_CHECKING:
    from tests.acceptance.conftest import OpenDoor
    from tests.rest_client import Rest

MONTHS = [f"2025-{month:02}" for month in range(1, 13)]


async def report(rest: Rest, month: str) -> str:
    body = {"text": f"Harbour report: traffic was calm, {len(month)} ships, {month[-2:]}0 boats.", "ts": f"{month}-10"}
    return str((await rest.ok("POST", "/v2/notes", body))["note_id"])


async def asked(rest: Rest, query: str, **more: Any) -> list[str]:
    items = (await rest.ok("POST", "/v2/searches", {"query": query, "top_k": 3, **more}))["items"]
    return [item["note_id"] for item in items]


async def test_what_was_said_in_the_asked_time_comes_first() -> None:
    async with open_rest(nur_timezone="UTC") as rest:
        names = {month: await report(rest, month) for month in MONTHS}
        assert (await asked(rest, "What did the harbour report say in March 2025?"))[0] == names["2025-03"]
        assert (await asked(rest, "What did the harbour report say?", when="2025-09"))[0] == names["2025-09"]


async def test_what_speaks_of_the_asked_time_comes_first() -> None:
    async with open_rest(nur_timezone="UTC") as rest:
        for month in MONTHS:
            await rest.ok(
                "POST", "/v2/notes", {"text": f"We repaired the boat, bill {month[-2:]}7.", "ts": "2026-01-20"}
            )
        dated = await rest.ok(
            "POST", "/v2/notes", {"text": "We repaired the boat last month, bill 99.", "ts": "2026-01-20"}
        )
        assert (await asked(rest, "Which bill for the boat in December 2025?"))[0] == dated["note_id"]


async def test_a_time_filters_nothing() -> None:
    async with open_rest(nur_timezone="UTC") as rest:
        note = await rest.ok("POST", "/v2/notes", {"text": "The harbour master is Ingrid.", "ts": "2020-01-01"})
        assert await asked(rest, "Who was harbour master in March 2025?") == [note["note_id"]]


async def test_a_note_said_in_the_asked_time_is_found_without_any_of_the_words() -> None:
    async with open_rest(nur_timezone="UTC") as rest:
        for month in MONTHS * 3:
            await report(rest, month)
        note = await rest.ok("POST", "/v2/notes", {"text": "Ingrid bought a piano.", "ts": "2024-02-03"})
        found = await asked(rest, "What happened on 3 February 2024?", mode="lexical")
        assert note["note_id"] in found


async def test_a_note_that_is_dated_anew_is_found_by_its_new_time() -> None:
    async with open_rest(nur_timezone="UTC") as rest:
        names = {month: await report(rest, month) for month in MONTHS}
        await rest.ok("PATCH", f"/v2/notes/{names['2025-03']}", {"ts": "2024-08-01"})
        assert (await asked(rest, "What did the harbour report say in August 2024?"))[0] == names["2025-03"]


async def test_a_question_that_asks_when_prefers_what_names_a_time() -> None:
    async with open_rest(nur_timezone="UTC") as rest:
        await rest.ok("POST", "/v2/notes", {"text": "The boat was painted again, and it looks good."})
        dated = await rest.ok("POST", "/v2/notes", {"text": "The boat was painted again, 3 May 2025."})
        assert (await asked(rest, "When was the boat painted?"))[0] == dated["note_id"]


async def test_a_time_that_is_none_is_refused(open_door: OpenDoor) -> None:
    async with open_door() as nur:
        await nur.data("memory_store", content="The boat is blue.", type="fact", confidence=1.0)
        message = "when must name a time, such as 2026-05, 2026-05-07 or last week"
        assert await nur.refusal("memory_search", query="boat", when="blue") == message
        assert await nur.refusal("hybrid_search", query="boat", when="blue") == message
        assert "blue" in await nur.text("memory_search", query="boat", when="2026")


async def test_a_date_anywhere_in_a_long_text_is_no_answer_to_when() -> None:
    filler = " The harbour office counts nets, ropes, lamps and barrels every quarter." * 9
    ends = ("The lease ends on 3 May 2024.", "The lease ends on some good day.")
    async with open_rest(nur_timezone="UTC") as rest:
        texts = [f"The boat was repaired.{length} {end}" for length in ("", filler) for end in ends]
        ids = [(await rest.ok("POST", "/v2/notes", {"text": text}))["note_id"] for text in texts]
        answer = await rest.ok("POST", "/v2/searches", {"query": "When was the boat repaired?", "top_k": 4})
        scores = {item["note_id"]: item["score"] for item in answer["items"]}
        short, short_undated, long, long_undated = (scores[note_id] for note_id in ids)
        assert short - short_undated > 0.04  # it names the time of what it says
        assert abs(long - long_undated) < 0.02
