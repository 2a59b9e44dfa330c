"""Memories that change: what a new one is compared with, what is decided, and what search makes of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.callers import LOCAL_CALLER
from tests.rest_client import rest_of

if TYPE_CHECKING:
    import httpx2

    from tests.acceptance.conftest import Door

OLD = "The alarm code of the unit is 4417."
NEW = "The alarm code of the unit is 3386."


async def rest(nur: Door, method: str, path: str, **more: Any) -> httpx2.Response:
    async with rest_of(nur.services) as client:
        return await client.client.request(method, path, **more)


async def stored(nur: Door, content: str, **more: Any) -> dict[str, Any]:
    return await nur.data("memory_store", content=content, type="fact", confidence=1.0, **more)


async def test_a_new_memory_names_what_it_may_contradict(nur: Door) -> None:
    old = await stored(nur, OLD, ts="2026-03-11")
    answer = await nur.text("memory_store", content=NEW, type="fact", confidence=1.0)
    [line] = answer.splitlines()[1:]
    assert line.startswith(f'May say something else about the same thing: [{old["memory_id"]}] "{OLD}" said 2026-03-11')
    listed = await nur.data("memory_review")
    [review] = listed["reviews"]
    assert (review["relation"], review["state"], review["older"]["id"]) == ("other", "waiting", old["memory_id"])


async def test_unrelated_memories_are_not_reported(nur: Door) -> None:
    await stored(nur, OLD)
    other = await stored(nur, "Kayleigh likes oat milk in her coffee.")
    assert "similar" not in other
    assert (await nur.text("memory_review")) == "Nothing to review."


async def test_nearly_the_same_and_the_opposite_are_told_apart(nur: Door) -> None:
    await stored(nur, "Danny has the key of the workshop in Leeds.")
    same = await stored(nur, "Danny has a key of the Leeds workshop.")
    assert [one["relation"] for one in same["similar"]] == ["same"]
    against = await stored(nur, "Danny does not have the key of the workshop in Leeds.")
    assert {one["relation"] for one in against["similar"]} == {"conflict"}


async def test_what_replaces_a_memory_comes_first_and_the_old_one_stays(nur: Door) -> None:
    old = await stored(nur, "Keypad at the mill: 9052.")
    new = await stored(nur, "Landlord changed the code to 3386.", replaces=old["memory_id"])
    assert new["replaced"] == old["memory_id"]
    found = await nur.data("memory_search", query="keypad at the mill")
    assert [hit["id"] for hit in found["hits"]][:2] == [new["memory_id"], old["memory_id"]]
    assert found["hits"][1]["newer"] == {"id": new["memory_id"], "rule": "decided"}
    assert f"Replaced by: {new['memory_id']}" in await nur.text("memory_search", query="keypad at the mill")
    assert f"[Replaced by: {new['memory_id']}]" in await nur.text("memory_list")


async def test_a_change_that_shares_no_word_with_the_question_comes_first(nur: Door) -> None:
    old = await stored(
        nur, "Accountant: Barry Stott, Pudsey. Wants the shoebox of receipts by the 10th.", ts="2026-03-30"
    )
    for number in range(12):
        await stored(nur, f"Receipts of job {number} are in folder {number}, tax paid.", ts="2026-03-01")
    new = await stored(nur, "Barry Stott is retiring. Books go to Priti, no more shoebox.", ts="2026-07-30")
    found = await nur.data("memory_search", query="Who is my accountant?")
    assert [hit["id"] for hit in found["hits"]][:2] == [new["memory_id"], old["memory_id"]]
    assert found["hits"][1]["newer"] == {"id": new["memory_id"], "rule": "update"}
    past = await nur.data("memory_search", query="Who was my accountant before?")
    assert past["hits"][0]["id"] == old["memory_id"]


async def test_an_unknown_memory_cannot_be_replaced_and_nothing_is_stored(nur: Door) -> None:
    arguments = {"content": NEW, "type": "fact", "confidence": 1.0, "replaces": "mem_000000000000"}
    assert await nur.refusal("memory_store", **arguments) == "Note mem_000000000000 not found"
    assert (await nur.text("memory_list")).startswith("No memories found.")
    old = await stored(nur, OLD)
    assert "replaces" in await nur.refusal("memory_store", **arguments | {"content": OLD, "replaces": old["memory_id"]})


async def test_confirm_reject_and_undo(nur: Door) -> None:
    old, new = await stored(nur, OLD), await stored(nur, NEW)
    [review] = (await nur.data("memory_review"))["reviews"]
    name = review["review_id"]
    confirmed = await nur.data("memory_review", review_id=name, decision="confirm")
    assert confirmed["reviews"][0]["state"] == "confirmed"
    hits = (await nur.data("memory_search", query="alarm code"))["hits"]
    assert [hit["id"] for hit in hits] == [new["memory_id"], old["memory_id"]]
    assert (await nur.text("memory_review")) == "Nothing to review."
    undone = await nur.data("memory_review", review_id=name, decision="undo")
    assert undone["reviews"][0]["state"] == "waiting"
    assert "Nothing was decided" in await nur.refusal("memory_review", review_id=name, decision="undo")
    await nur.data("memory_review", review_id=name, decision="reject")
    again = await stored(nur, NEW, ts="2026-05-01")
    assert "similar" not in again
    assert (await nur.text("memory_review")) == "Nothing to review."


async def test_a_review_needs_both_arguments_and_must_exist(nur: Door) -> None:
    assert "go together" in await nur.refusal("memory_review", review_id="rev_0")
    assert await nur.refusal("memory_review", review_id="rev_0", decision="confirm") == "Review rev_0 not found"


async def test_the_trash_removes_a_suggestion_and_restoring_finds_it_again(nur: Door) -> None:
    old = await stored(nur, OLD)
    await stored(nur, NEW)
    await nur.text("memory_delete", memory_id=old["memory_id"])
    assert (await nur.text("memory_review")) == "Nothing to review."
    assert (await rest(nur, "POST", "/v2/admin/trash/restore", json={"note_id": old["memory_id"]})).status_code == 200
    assert len((await nur.data("memory_review"))["reviews"]) == 1


async def test_reviews_over_rest(nur: Door) -> None:
    old = (await rest(nur, "POST", "/v2/memories", json={"text": OLD})).json()
    new = (await rest(nur, "POST", "/v2/memories", json={"text": NEW})).json()
    [similar] = new["similar"]
    assert (similar["note_id"], similar["relation"], similar["text"]) == (old["note_id"], "other", OLD)
    waiting = (await rest(nur, "GET", "/v2/reviews")).json()
    assert [one["review_id"] for one in waiting["reviews"]] == [similar["review_id"]]
    decided = await rest(nur, "POST", f"/v2/reviews/{similar['review_id']}", json={"decision": "confirm"})
    assert (decided.status_code, decided.json()["state"]) == (200, "confirmed")
    assert (await rest(nur, "GET", "/v2/reviews")).json()["reviews"] == []
    assert len((await rest(nur, "GET", "/v2/reviews", params={"state": "decided"})).json()["reviews"]) == 1
    assert (await rest(nur, "POST", "/v2/reviews/rev_0", json={"decision": "confirm"})).status_code == 404


async def test_decisions_are_exported_and_imported(nur: Door) -> None:
    old, new = await stored(nur, OLD), await stored(nur, NEW)
    [review] = (await nur.data("memory_review"))["reviews"]
    await nur.data("memory_review", review_id=review["review_id"], decision="confirm")
    export = (await rest(nur, "GET", "/v2/export")).content
    assert [json.loads(line)["type"] for line in export.splitlines()].count("decision") == 1
    for one in (old, new):
        assert (await rest(nur, "DELETE", f"/v2/notes/{one['memory_id']}")).status_code == 204
        assert (await rest(nur, "POST", "/v2/admin/trash/purge", json={"note_id": one["memory_id"]})).status_code in (
            200,
            204,
        )
    imported = (await rest(nur, "POST", "/v2/import", content=export)).json()
    assert (imported["created"], imported["failed"], imported["complete"]) == (2, 0, True)
    hits = (await nur.data("memory_search", query="alarm code"))["hits"]
    assert hits[1]["newer"]["rule"] == "decided"


async def waiting(nur: Door) -> set[tuple[str, str]]:
    return {(one["newer"]["id"], one["older"]["id"]) for one in (await nur.data("memory_review"))["reviews"]}


async def test_a_text_that_is_edited_is_compared_again(nur: Door) -> None:
    old = (await stored(nur, OLD, ts="2026-03-11"))["memory_id"]
    new = (await stored(nur, "Kayleigh likes oat milk in her coffee.", ts="2026-04-01"))["memory_id"]
    assert await waiting(nur) == set()
    receipt = (await rest(nur, "PATCH", f"/v2/notes/{new}", json={"text": NEW})).json()
    assert [(one["note_id"], one["relation"]) for one in receipt["similar"]] == [(old, "other")]
    assert await waiting(nur) == {(new, old)}
    await rest(nur, "PATCH", f"/v2/notes/{new}", json={"title": "The unit"})
    assert await waiting(nur) == {(new, old)}
    await rest(nur, "PATCH", f"/v2/notes/{new}", json={"text": "Kayleigh takes her coffee black."})
    assert await waiting(nur) == set()


async def test_a_text_that_comes_back_is_not_suggested_where_it_was_decided(nur: Door) -> None:
    await stored(nur, OLD)
    new = (await stored(nur, NEW))["memory_id"]
    [review] = (await nur.data("memory_review"))["reviews"]
    await nur.data("memory_review", review_id=review["review_id"], decision="reject")
    await rest(nur, "PATCH", f"/v2/notes/{new}", json={"text": "Kayleigh takes her coffee black."})
    receipt = (await rest(nur, "PATCH", f"/v2/notes/{new}", json={"text": NEW})).json()
    assert receipt["similar"] == []
    assert await waiting(nur) == set()


async def test_imported_memories_are_compared(nur: Door) -> None:
    old, new = (await stored(nur, OLD))["memory_id"], (await stored(nur, NEW))["memory_id"]
    export = (await rest(nur, "GET", "/v2/export")).content
    for one in (old, new):
        await rest(nur, "DELETE", f"/v2/notes/{one}")
        await rest(nur, "POST", "/v2/admin/trash/purge", json={"note_id": one})
    assert await waiting(nur) == set()
    await rest(nur, "POST", "/v2/import", content=export)
    assert await waiting(nur) == {(new, old)}


async def test_a_rebuild_finds_suggestions_that_are_missing(nur: Door) -> None:
    old, new = (await stored(nur, OLD))["memory_id"], (await stored(nur, NEW))["memory_id"]
    note = await nur.services.get_note(new, LOCAL_CALLER)
    await nur.services.stores.decisions.suggest(note.note_id, [])  # as in a store of a version that compared nothing
    assert await waiting(nur) == set()
    await nur.services.rebuild()
    assert await waiting(nur) == {(new, old)}
