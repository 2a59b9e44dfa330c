"""The privacy filter stands before every retrieval: it allows all, and with PRIVACY_ENFORCEMENT keeps owners apart."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Any

import pytest

from nur.domain.access import DEFAULT_TENANT, Caller, Principal
from nur.domain.errors import NotFound
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind, NoteMetadata, Visibility
from nur.domain.search import Payload, SearchRequest
from nur.domain.writes import OnEmbeddingFailure, Outcome, Protection
from nur.services.notes.edit_note import Edit
from tests.doubles.clock import ManualClock
from tests.rest_client import rest_of

if TYPE_CHECKING:
    from pathlib import Path

    from nur.bootstrap import Services
    from tests.acceptance.conftest import OpenDoor, OpenWithoutJobs

ANNA = Caller(Principal("anna", DEFAULT_TENANT), "anna's call")
BEN = Caller(Principal("ben", DEFAULT_TENANT), "ben's call")
STRANGER = Caller(Principal("anna", "elsewhere"), "a stranger's call")
WRITE: dict[str, Any] = {"on_failure": OnEmbeddingFailure.REJECT}


async def ingest(services: Services, owner: Caller, visibility: Visibility, text: str) -> str:
    meta = NoteMetadata(type="doc", source_system="drive", source_id=text)
    stored = await services.ingest(text, meta, Protection(visibility=visibility), caller=owner, **WRITE)
    return stored.note.public_id


async def remember(services: Services, owner: Caller, text: str) -> str:
    stored = await services.remember(text, type="fact", confidence=1.0, conversation_id=None, caller=owner, **WRITE)
    return stored.note.public_id


def a_request(query: str, by: Caller, **changes: Any) -> SearchRequest:
    return SearchRequest(query=query, caller=by, where=NoteFilter(tenant=by.tenant), **changes)


async def found(services: Services, by: Caller, query: str) -> set[str]:
    result = await services.search(a_request(query, by, limit=50))
    return {hit.note.public_id for hit in result.hits}


@pytest.mark.parametrize(("enforced", "shown"), [(False, True), (True, False)])
async def test_a_private_note_of_somebody_else_is_shown_only_without_enforcement(
    open_without_jobs: OpenWithoutJobs, enforced: bool, shown: bool
) -> None:
    async with open_without_jobs(privacy_enforcement=enforced) as nur:
        services = nur.services
        document = await ingest(services, ANNA, Visibility.ME, "Anna's river diary")
        memory = await remember(services, ANNA, "Anna swims in the river")
        await services.append_turn("trip", 0, role="user", content="To the river!", caller=ANNA, **WRITE)
        everything = {document, memory, "trip_turn_0"}

        assert await found(services, ANNA, "river") == everything
        assert await found(services, BEN, "river") == (everything if shown else set())

        memories = NoteFilter(tenant=DEFAULT_TENANT, kinds=frozenset({Kind.MEMORY}))
        assert len((await services.list_notes(memories, ANNA, limit=10)).notes) == 1
        assert len((await services.list_notes(memories, BEN, limit=10)).notes) == (1 if shown else 0)
        turns = await services.list_conversations.turns("trip", BEN, limit=10)
        assert len(turns.notes) == (1 if shown else 0)

        assert (await services.get_artifact(document, ANNA, content=True)).text == "Anna's river diary"
        for attempt in (
            lambda: services.get_artifact(document, BEN, content=True),
            lambda: services.reembed_artifact(document, BEN),
            lambda: services.forget(memory, Kind.MEMORY, BEN),
            lambda: services.forget(document, Kind.ARTIFACT, BEN),
        ):
            if shown:
                await attempt()
            else:
                with pytest.raises(NotFound, match="not found"):
                    await attempt()


async def test_the_tools_speak_for_the_local_principal(open_without_jobs: OpenWithoutJobs) -> None:
    async with open_without_jobs(privacy_enforcement=True) as nur:
        document = await ingest(nur.services, ANNA, Visibility.ME, "Anna's river diary")
        memory = await remember(nur.services, ANNA, "Anna swims in the river")
        await nur.services.append_turn("trip", 0, role="user", content="To the river!", caller=ANNA, **WRITE)
        own = (await nur.data("memory_store", content="My own river", type="fact", confidence=1.0))["memory_id"]
        assert await nur.text("memory_list") == f"Found 1 memory:\n[{own}] (fact, conf=1.0): My own river"
        assert (await nur.text("memory_search", query="river")).startswith(
            f"[{own}] (fact, conf=1.0): My own river [said "
        )
        assert (await nur.text("artifact_search", query="river")).startswith("No results found. ")
        assert await nur.text("history_get", conversation_id="trip") == "No history for trip."
        every = await nur.data("hybrid_search", query="river", include_memory=True, include_history=True)
        assert [hit["id"] for hit in every["hits"]] == [own]
        for tool in ("artifact_get", "artifact_delete", "artifact_reembed"):
            assert await nur.refusal(tool, artifact_id=document) == f"Artifact {document} not found"
        assert await nur.refusal("memory_delete", memory_id=memory) == f"Memory {memory} not found"
        assert len(await found(nur.services, ANNA, "river")) == 3  # nothing of Anna's was touched


async def test_a_private_note_is_read_and_edited_by_its_owner_alone(open_without_jobs: OpenWithoutJobs) -> None:
    async with open_without_jobs(privacy_enforcement=True) as nur:
        services = nur.services
        memory = await remember(services, ANNA, "Anna swims in the river")
        titled = Edit(fields={"title": "Swimming"})
        for attempt in (
            lambda: services.get_note(memory, BEN),
            lambda: services.edit_note(memory, titled, BEN),
        ):
            with pytest.raises(NotFound, match="not found"):
                await attempt()
        assert (await services.get_note(memory, ANNA)).meta.title is None
        assert (await services.edit_note(memory, titled, ANNA)).outcome is Outcome.METADATA_UPDATED


async def test_a_repeated_search_leaves_out_what_was_hidden_since(open_without_jobs: OpenWithoutJobs) -> None:
    async with open_without_jobs(privacy_enforcement=True) as nur:
        services = nur.services
        document = await ingest(services, ANNA, Visibility.TEAM, "The river timetable")
        answer = await services.search(a_request("river", BEN, payload=Payload.TEXTS))
        assert [hit.text for hit in answer.hits] == ["The river timetable"]
        await services.edit_note(document, Edit(fields={"visibility": Visibility.ME}), ANNA)

        again = await services.repeat_search(answer.search_id, BEN)
        assert (again.result.hits, again.dropped) == ((), 1)
        opened = await services.repeat_search.open_notes(answer.search_id, [document], BEN)
        assert (opened.notes, opened.missing) == ([], [document])
        with pytest.raises(NotFound):
            await services.repeat_search(answer.search_id, ANNA)  # nor does anybody repeat another's search


@pytest.mark.parametrize(("enforced", "shown"), [(False, True), (True, False)])
async def test_somebody_elses_search_is_explained_only_without_enforcement(
    open_without_jobs: OpenWithoutJobs, enforced: bool, shown: bool
) -> None:
    async with open_without_jobs(privacy_enforcement=enforced) as nur:
        services = nur.services
        await remember(services, ANNA, "Anna swims in the river")
        answer = await services.search(a_request("river", ANNA))
        (item,) = answer.hits
        assert item.item_id is not None
        for _ in range(2):  # before and after it is written
            assert (await services.explain(answer.search_id, ANNA)).trace.query == "river"
            assert await services.search_log.find_item(item.item_id, ANNA) is not None
            assert (await services.search_log.find(answer.search_id, BEN) is not None) is shown
            assert (await services.search_log.find_item(item.item_id, BEN) is not None) is shown
            assert await services.search_log.find(answer.search_id, STRANGER) is None
            assert await services.search_log.find_item(item.item_id, STRANGER) is None
            await services.search_log.flush()


@pytest.mark.parametrize(("enforced", "shown"), [(False, True), (True, False)])
async def test_somebody_elses_copy_is_reported_only_without_enforcement(
    open_without_jobs: OpenWithoutJobs, enforced: bool, shown: bool
) -> None:
    async with open_without_jobs(privacy_enforcement=enforced) as nur:
        services = nur.services
        copied = await ingest(services, ANNA, Visibility.ME, "The green lamp in the long hall burns all night.")
        own = await ingest(services, BEN, Visibility.TEAM, "The green lamp in the long hall burns all the night.")
        for reader in (BEN, ANNA):
            near = (await services.read_note(own, reader, near_duplicates=True)).near_duplicates
            assert [one.public_id for one in near or ()] == ([copied] if shown or reader is ANNA else [])


async def test_the_trash_is_its_owners(open_without_jobs: OpenWithoutJobs) -> None:
    clock = ManualClock()
    async with open_without_jobs(privacy_enforcement=True, clock=clock) as nur:
        services = nur.services
        memory = await remember(services, ANNA, "Anna swims in the river")
        with pytest.raises(NotFound):
            await services.trash.purge(memory, BEN)
        await services.forget(memory, Kind.MEMORY, ANNA)
        for attempt in (services.trash.restore, services.trash.purge):
            with pytest.raises(NotFound):
                await attempt(memory, BEN)
        await clock.sleep(1)
        listed = {
            by.principal.name: [
                note.public_id for note, _ in (await services.trash.list(by, limit=10, characters=9)).notes
            ]
            for by in (ANNA, BEN)
        }
        assert listed == {"anna": [memory], "ben": []}
        async with rest_of(services) as rest:  # REST speaks for the local principal
            assert (await rest.ok("GET", "/v2/admin/trash"))["notes"] == []
            await rest.problem(404, "GET", f"/v2/notes/{memory}")
        assert (await services.trash.restore(memory, ANNA)).note.public_id == memory


@pytest.mark.parametrize(("enforced", "shown"), [(False, True), (True, False)])
async def test_somebody_elses_notes_are_exported_and_their_conversations_listed_only_without_enforcement(
    open_without_jobs: OpenWithoutJobs, enforced: bool, shown: bool
) -> None:
    async with open_without_jobs(privacy_enforcement=enforced) as nur:
        services = nur.services
        await services.append_turn("trip", 0, role="user", content="To the river!", caller=ANNA, **WRITE)
        for by, visible in ((ANNA, True), (BEN, shown)):
            exported = b"".join([piece async for piece in services.export_notes(by)])
            assert (b"To the river!" in exported) == visible
            assert b'"notes":%d}' % visible in exported
            listed = await services.list_conversations(by, limit=10, characters=9)
            assert [one.conversation_id for one in listed.conversations] == ["trip"] * visible


async def test_an_explanation_does_not_know_what_the_caller_may_not_see(open_without_jobs: OpenWithoutJobs) -> None:
    async with open_without_jobs(privacy_enforcement=True) as nur:
        services = nur.services
        secret = await remember(services, ANNA, "Anna swims in the river")
        deleted = await remember(services, ANNA, "Anna fell into the river")
        await services.forget(deleted, Kind.MEMORY, ANNA)
        result = await services.search(a_request("river", BEN))
        for name in (secret, deleted, "mem_none"):
            explained = (await services.explain(result.search_id, BEN, name)).note
            assert explained is not None
            assert (explained.outcome, explained.why) == ("unknown", "There is no such note.")


@pytest.mark.parametrize(
    ("visibility", "shown"),
    [(Visibility.ME, False), (Visibility.TEAM, True), (Visibility.ORG, True), (Visibility.CUSTOM, False)],
)
async def test_what_is_shared_is_shown_to_others_of_the_tenant(
    open_without_jobs: OpenWithoutJobs, visibility: Visibility, shown: bool
) -> None:
    async with open_without_jobs(privacy_enforcement=True) as nur:
        document = await ingest(nur.services, ANNA, visibility, "The river timetable")
        assert (document in await found(nur.services, BEN, "river")) is shown


@pytest.mark.parametrize("enforced", [False, True])
async def test_another_tenant_sees_nothing_whatever_the_setting(
    open_without_jobs: OpenWithoutJobs, enforced: bool
) -> None:
    async with open_without_jobs(privacy_enforcement=enforced) as nur:
        document = await ingest(nur.services, ANNA, Visibility.ORG, "The river timetable")
        assert await found(nur.services, STRANGER, "river") == set()
        for tenant in ("default", "elsewhere"):
            everything = NoteFilter(tenant=tenant)
            assert (await nur.services.list_notes(everything, STRANGER, limit=10)).notes == []
        with pytest.raises(NotFound):
            await nur.services.get_artifact(document, STRANGER)
        with pytest.raises(NotFound):
            await nur.services.forget(document, Kind.ARTIFACT, STRANGER)


async def test_a_list_is_filled_though_others_notes_stand_between(open_without_jobs: OpenWithoutJobs) -> None:
    async with open_without_jobs(privacy_enforcement=True) as nur:
        for number in range(30):
            await remember(nur.services, BEN if number % 3 == 0 else ANNA, f"memory {number}")
        memories = NoteFilter(tenant=DEFAULT_TENANT, kinds=frozenset({Kind.MEMORY}))
        first = await nur.services.list_notes(memories, BEN, limit=8)
        listed = first.notes
        assert len(listed) == 8
        rest = (await nur.services.list_notes(memories, BEN, limit=8, cursor=first.next_cursor)).notes
        assert len(rest) == 2
        assert {note.owner for note, _ in listed + rest} == {"ben"}
        assert len({note.public_id for note, _ in listed + rest}) == 10


async def test_a_search_finds_ones_own_behind_many_that_one_may_not_see(open_without_jobs: OpenWithoutJobs) -> None:
    async with open_without_jobs(privacy_enforcement=True) as nur:
        for number in range(90):
            await remember(nur.services, ANNA, f"river {number}")
        own = await remember(nur.services, BEN, "Of all that I saw on the long way home I remember one river best")
        assert await found(nur.services, BEN, "river") == {own}


async def test_every_file_in_the_data_folder_is_the_owners_alone(open_door: OpenDoor, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "lock").touch(mode=0o644)  # as earlier versions left it
    async with open_door() as nur:
        await nur.text("memory_store", content="mine alone", type="fact", confidence=1.0)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir() if path.is_file()}
        assert {"nur.db", "lock"} <= set(modes)
        assert set(modes.values()) == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
