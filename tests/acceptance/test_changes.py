"""What changed and what happened, in the order of time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.rest_client import rest_of

if TYPE_CHECKING:
    import httpx2

    from tests.acceptance.conftest import Door


async def rest(nur: Door, method: str, path: str, **more: Any) -> httpx2.Response:
    async with rest_of(nur.services) as client:
        return await client.client.request(method, path, **more)


async def stored(nur: Door, content: str, **more: Any) -> str:
    answer = await nur.data("memory_store", content=content, type="fact", confidence=1.0, **more)
    return str(answer["memory_id"])


async def changes(nur: Door, **params: Any) -> dict[str, Any]:
    answer = await rest(nur, "GET", "/v2/changes", params=params)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


async def test_changes_have_both_texts_and_go_on_from_their_cursor(nur: Door) -> None:
    note = (await rest(nur, "POST", "/v2/notes", json={"text": "Port 5432.", "key": "port"})).json()["note_id"]
    first = await changes(nur)
    assert [(one["change"], one["note_id"], one["after"]) for one in first["changes"]] == [
        ("created", note, "Port 5432.")
    ]
    await rest(nur, "POST", "/v2/notes", json={"text": "Port 5433.", "key": "port"})
    later = await changes(nur, cursor=first["cursor"])
    [one] = later["changes"]
    assert (one["change"], one["before"], one["after"]) == ("replaced", "Port 5432.", "Port 5433.")
    assert (await changes(nur, cursor=later["cursor"]))["changes"] == []


async def test_pages_of_changes_join_without_a_gap(nur: Door) -> None:
    names = [await stored(nur, f"Lamp number {number} hangs in room {number * 7}.") for number in range(7)]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await changes(nur, limit=2, **({"cursor": cursor} if cursor else {}))
        seen += [one["note_id"] for one in page["changes"]]
        cursor = page["cursor"]
        if not page["has_more"]:
            break
    assert seen == names
    assert (await rest(nur, "GET", "/v2/changes", params={"cursor": "x"})).status_code == 400


async def test_what_is_deleted_is_named_without_its_text(nur: Door) -> None:
    canary = "The canary sings at nine."
    name = await stored(nur, canary)
    await nur.text("memory_delete", memory_id=name)
    found = (await changes(nur))["changes"]
    assert [one["change"] for one in found] == ["created", "deleted"]
    assert canary not in str(found)
    assert (await rest(nur, "POST", "/v2/admin/trash/purge", json={"note_id": name})).status_code in (200, 204)
    found = (await changes(nur))["changes"]
    assert [one["change"] for one in found] == ["purged"]
    assert canary not in str(found)


async def test_a_superseded_memory_is_a_change(nur: Door) -> None:
    old = await stored(nur, "Tea is at four.")
    new = await stored(nur, "Tea is at five.", replaces=old)
    assert [(one["change"], one["note_id"], one["superseded_by"]) for one in (await changes(nur))["changes"]] == [
        ("created", old, None),
        ("created", new, None),
        ("superseded", old, new),
    ]
    text = await nur.text("memory_timeline", changes_only=True)
    assert f"superseded [{old}] by [{new}]" in text


async def test_the_timeline_is_in_the_order_of_time(nur: Door) -> None:
    later = await stored(nur, "The boat was painted.", ts="2026-06-02")
    earlier = await stored(nur, "We bought the boat yesterday.", ts="2026-05-08")
    await stored(nur, "Bread is baked on Sundays.", ts="2026-05-20")
    lines = (await nur.text("memory_timeline", query="boat", limit=2)).splitlines()
    assert lines == [
        f"2026-05-07 [{earlier}] We bought the boat yesterday.",
        f"2026-06-02 [{later}] The boat was painted.",
    ]


async def test_the_timeline_of_a_time_and_of_a_subject(nur: Door) -> None:
    await stored(nur, "The boat was painted.", ts="2026-06-02")
    may = await stored(nur, "We bought the boat.", ts="2026-05-08")
    await stored(nur, "Bread is baked on Sundays.", ts="2026-05-20")
    found = await nur.data("memory_timeline", when="2026-05", about="boat")
    assert [one["id"] for one in found["entries"]] == [may]
    answer = (await rest(nur, "GET", "/v2/timeline", params={"when": "2026-05", "about": "boat"})).json()
    assert [one["note_id"] for one in answer["entries"]] == [may]
    assert await nur.text("memory_timeline", when="2019") == "Nothing found."
    assert "when must name a time" in await nur.refusal("memory_timeline", when="soonish")


async def test_a_deleted_note_is_on_no_timeline(nur: Door) -> None:
    name = await stored(nur, "We bought the boat.", ts="2026-05-08")
    await nur.text("memory_delete", memory_id=name)
    for arguments in ({"query": "boat"}, {"about": "boat"}, {"when": "2026-05"}):
        assert await nur.text("memory_timeline", **arguments) == "Nothing found."


async def test_an_older_value_names_the_newer_one(nur: Door) -> None:
    old = await stored(nur, "The main branch has 150 merged commits.", ts="2026-04-01")
    new = await stored(nur, "The main branch reached 165 merged commits.", ts="2026-05-01")
    text = await nur.text("memory_search", query="How many commits are merged into the main branch?")
    first, second = text.splitlines()[:2]
    assert first.startswith(f"[{new}]")
    assert f"Older value; newer: {new}]" in second
    assert second.startswith(f"[{old}]")


async def test_statements_that_disagree_are_quoted_side_by_side(nur: Door) -> None:
    never = await stored(nur, "I have never used Bootstrap components.")
    did = await stored(nur, "I built the gallery with Bootstrap components.")
    answer = await nur.data("memory_search", query="Have I used Bootstrap components before?")
    [[one, two]] = answer["conflicts"]
    assert {one["id"], two["id"]} == {never, did}
    text = await nur.text("memory_search", query="Have I used Bootstrap components before?")
    assert text.splitlines()[-1].startswith("These disagree: ")


async def test_a_search_as_of_a_moment_knows_only_what_was_stored(nur: Door) -> None:
    note = {"key": "port", "text": "The staging database listens on port 5432."}
    await rest(nur, "POST", "/v2/notes", json=note)
    between = nur.services.clock.now()
    await rest(nur, "POST", "/v2/notes", json=note | {"text": "The staging database listens on port 5433."})
    later = await stored(nur, "The staging database port is open to Anna.")

    async def asked(**more: Any) -> list[dict[str, Any]]:
        question = {"query": "staging database port", "stitch": False, **more}
        items: list[dict[str, Any]] = (await rest(nur, "POST", "/v2/searches", json=question)).json()["items"]
        return items

    now = await asked()
    assert {one["note_id"] for one in now} > {later}
    [then] = await asked(as_of=between.isoformat())
    assert (then["snippet"], then["version"]) == ("The staging database listens on port 5432.", 1)
    answer = await nur.data("memory_search", query="staging database port", as_of="2020-01-01")
    assert answer["hits"] == []


@pytest.mark.parametrize("tool", ["search_everything", "artifact_search", "hybrid_search"])
async def test_every_search_of_documents_answers_as_of_a_moment(nur: Door, tool: str) -> None:
    source = {"artifact_type": "doc", "source_system": "drive", "source_id": "port"}
    await nur.text("artifact_ingest", content="The staging database listens on port 5432.", **source)
    between = nur.services.clock.now().isoformat()
    await nur.text("artifact_ingest", content="The staging database listens on port 5433.", **source)
    assert "5433" in await nur.text(tool, query="staging database port")
    then = await nur.text(tool, query="staging database port", as_of=between)
    assert "5432" in then
    assert "5433" not in then
    assert (await nur.data(tool, query="staging database port", as_of="2020-01-01"))["hits"] == []
    assert "Nothing stored by 2020-01-01T" in await nur.text(tool, query="staging database port", as_of="2020-01-01")
    assert "as_of" in await nur.refusal(tool, query="staging database port", as_of="soon")


@pytest.mark.parametrize("tool", ["search_everything", "artifact_search", "hybrid_search"])
async def test_every_search_of_documents_prefers_a_time(nur: Door, tool: str) -> None:
    for month in ("03", "07"):
        source = {
            "artifact_type": "doc",
            "source_system": "drive",
            "source_id": month,
            "ts": f"2026-{month}-11T12:00:00Z",
        }
        await nur.text("artifact_ingest", content=f"Minutes {month}: the harbour budget was discussed.", **source)
    for month in ("03", "07"):
        hits = (await nur.data(tool, query="harbour budget minutes", when=f"2026-{month}"))["hits"]
        assert f"Minutes {month}" in str(hits[0])


async def test_a_date_alone_is_taken_by_every_door(nur: Door) -> None:
    note = await stored(nur, "The staging database listens on port 5432.")
    today = nur.services.clock.now().astimezone(nur.services.zone).date()
    for since, until, expected in (
        (today, None, [note]),  # from its beginning on
        (today + timedelta(days=1), None, []),
        (None, today, []),  # up to its beginning
        (None, today + timedelta(days=1), [note]),
    ):
        params = {name: day.isoformat() for name, day in (("since", since), ("until", until)) if day is not None}
        assert [one["note_id"] for one in (await changes(nur, **params))["changes"]] == expected
    for day, expected in ((today - timedelta(days=1), []), (today + timedelta(days=1), [note])):
        asked = {"query": "staging database port", "as_of": day.isoformat()}
        found = (await rest(nur, "POST", "/v2/searches", json=asked)).json()
        assert [one["note_id"] for one in found["items"]] == expected
    refused = await rest(nur, "GET", "/v2/changes", params={"since": "soon"})
    assert refused.status_code in (400, 422)
    assert "since" in refused.text


async def test_the_latest_changes_come_first_page_by_page(nur: Door) -> None:
    names = [await stored(nur, f"Lamp number {number} hangs in room {number * 7}.") for number in range(5)]
    first = await changes(nur, order="newest", limit=2)
    await stored(nur, "A lamp that came while somebody read.")
    second = await changes(nur, order="newest", limit=2, cursor=first["cursor"])
    third = await changes(nur, order="newest", limit=2, cursor=second["cursor"])
    seen = [one["note_id"] for page in (first, second, third) for one in page["changes"]]
    assert seen == names[::-1]
    assert [page["has_more"] for page in (first, second, third)] == [True, True, False]
    mixed = {"cursor": first["cursor"], "order": "oldest"}
    assert (await rest(nur, "GET", "/v2/changes", params=mixed)).status_code == 400


async def test_the_timeline_goes_back_page_by_page_by_when_it_was_said(nur: Door) -> None:
    days = ["2026-05-08", "2026-03-01", "2026-06-02", "2026-01-15", "2026-04-04"]
    for day in days:
        await stored(nur, f"Nothing new about the boat of number {day[5:7]}.", ts=day)
    seen: list[list[str]] = []
    cursor: str | None = None
    while True:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await rest(nur, "GET", "/v2/timeline", params=params)).json()
        seen.append([one["ts"][:10] for one in page["entries"]])
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [["2026-05-08", "2026-06-02"], ["2026-03-01", "2026-04-04"], ["2026-01-15"]]


async def test_the_timeline_of_a_kind_and_of_a_project(nur: Door) -> None:
    await stored(nur, "The boat was painted.", ts="2026-06-02")
    note = {"text": "The boat was sold.", "project": "harbour"}
    sold = (await rest(nur, "POST", "/v2/notes", json=note)).json()["note_id"]
    for params in ({"kind": "note"}, {"project": "harbour"}):
        found = (await rest(nur, "GET", "/v2/timeline", params=params)).json()["entries"]
        assert [one["note_id"] for one in found] == [sold]


async def test_a_note_names_the_one_that_replaced_it(nur: Door) -> None:
    old = await stored(nur, "Tea is at four.")
    new = await stored(nur, "Tea is at five.", replaces=old)
    assert (await rest(nur, "GET", f"/v2/notes/{old}")).json()["replaced_by"] == new
    assert (await rest(nur, "GET", f"/v2/notes/{new}")).json()["replaced_by"] is None
    listed = (await rest(nur, "GET", "/v2/notes")).json()["notes"]
    assert {one["note_id"]: one["replaced_by"] for one in listed} == {old: new, new: None}


async def test_an_edit_of_the_description_has_the_text(nur: Door) -> None:
    note = (await rest(nur, "POST", "/v2/notes", json={"text": "Port 5432."})).json()["note_id"]
    await rest(nur, "PATCH", f"/v2/notes/{note}", json={"title": "Port"})
    [_, edited] = (await changes(nur))["changes"]
    assert (edited["change"], edited["before"], edited["after"]) == ("edited", None, "Port 5432.")
