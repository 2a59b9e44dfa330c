"""Many clients at once, on a real store: the database decides who came first."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.artifact_texts import chapters, tokens

if TYPE_CHECKING:
    from tests.acceptance.conftest import Door, OpenDoor
    from tests.servers.openai_stub import OpenAIStub

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANY = 16
DOC = {"artifact_type": "doc", "source_system": "drive"}


async def at_once(nur: Door, tool: str, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return await asyncio.gather(*(nur.data(tool, **arguments) for arguments in calls))


@pytest.mark.parametrize("size", [50, 2000], ids=["whole", "cut"])
async def test_many_ingests_of_one_source_leave_one_version_and_one_created(shared: Door, size: int) -> None:
    source = {**DOC, "source_id": f"same {size}", "content": tokens(size)}
    made = await at_once(shared, "artifact_ingest", [source] * MANY)
    assert Counter(each["outcome"] for each in made) == {"created": 1, "unchanged": MANY - 1}
    assert {each["artifact_id"] for each in made} == {made[0]["artifact_id"]}
    assert {each["version"] for each in made} == {1}
    assert {tuple(each["stored_ids"]) for each in made} == {tuple(made[0]["stored_ids"])}
    note = await shared.services.stores.notes.get("default", made[0]["artifact_id"])
    assert note is not None
    assert len(await shared.services.stores.chunks.of_note(note.note_id)) == max(1, made[0]["num_chunks"])


async def test_many_texts_of_one_source_are_versions_in_a_row(shared: Door) -> None:
    source = {**DOC, "source_id": "changing"}
    texts = [f"The text number {i} of a busy source" for i in range(MANY)]
    before = await shared.indexed()
    made = await at_once(shared, "artifact_ingest", [{**source, "content": text} for text in texts])
    assert Counter(each["outcome"] for each in made) == {"created": 1, "replaced": MANY - 1}
    assert sorted(each["version"] for each in made) == list(range(1, MANY + 1))
    got = await shared.data("artifact_get", artifact_id=made[0]["artifact_id"], include_content=True)
    last = max(range(MANY), key=lambda place: made[place]["version"])
    assert (got["content"], got["metadata"]["version"]) == (texts[last], MANY)
    assert await shared.indexed() == before + 1
    found = await shared.data("artifact_search", query="text number of a busy source", limit=50)
    assert [hit["snippet"] for hit in found["hits"] if "busy source" in hit["snippet"]] == [texts[last]]


async def test_a_writer_that_comes_second_embeds_nothing_again(open_door: OpenDoor, openai_stub: OpenAIStub) -> None:
    settings: dict[str, Any] = {
        "openai_api_key": "sk-test",
        "openai_base_url": openai_stub.url,
        "openai_embed_dims": 64,
    }
    async with open_door(**settings) as nur:
        before = len(openai_stub.requests)
        calls = [{**DOC, "source_id": "1", "content": f"text number {i}"} for i in range(MANY)]
        made = await at_once(nur, "artifact_ingest", calls)
        assert sorted(each["version"] for each in made) == list(range(1, MANY + 1))
        sent = [text for request in openai_stub.requests[before:] for text in request.inputs]
        assert sorted(sent) == sorted(call["content"] for call in calls)


async def test_many_sources_never_collide(shared: Door) -> None:
    """Two of these sources have the same eight hex digits, the rest their own."""
    names = ["146780", "157186", *(str(i) for i in range(MANY - 2))]
    calls = [{**DOC, "source_id": name, "content": f"the text of source {name}"} for name in names]
    made = await at_once(shared, "artifact_ingest", calls * 2)
    assert Counter(each["outcome"] for each in made) == {"created": MANY, "unchanged": MANY}
    assert len({each["artifact_id"] for each in made}) == MANY
    for name, each in zip(names, made, strict=False):
        got = await shared.data("artifact_get", artifact_id=each["artifact_id"], include_content=True)
        assert got["content"] == f"the text of source {name}"


async def test_many_stores_of_one_memory_are_one_memory(shared: Door) -> None:
    memory = {"content": "One memory, told by many", "type": "fact", "confidence": 1.0}
    made = await at_once(shared, "memory_store", [memory] * MANY)
    assert Counter(each["outcome"] for each in made) == {"created": 1, "unchanged": MANY - 1}
    assert len({each["memory_id"] for each in made}) == 1
    existing = (await shared.data("memory_list", limit=100))["memories"]
    assert [each["content"] for each in existing].count(memory["content"]) == 1


async def test_many_appends_of_one_turn_are_one_turn(shared: Door) -> None:
    turn = {"conversation_id": "busy", "role": "user", "turn_index": 0}
    made = await at_once(shared, "history_append", [{**turn, "content": f"said {i % 4}"} for i in range(MANY)])
    assert Counter(each["outcome"] for each in made)["created"] == 1
    turns = (await shared.data("history_get", conversation_id="busy"))["turns"]
    assert len(turns) == 1


async def test_a_delete_among_writes_leaves_one_state_that_all_agree_on(shared: Door) -> None:
    source = {**DOC, "source_id": "contested"}
    name = (await shared.data("artifact_ingest", **source, content="the first text"))["artifact_id"]
    await asyncio.gather(
        *(shared.data("artifact_ingest", **source, content=chapters(90, f"clerk {i}")) for i in range(4)),
        *(shared.call("artifact_delete", artifact_id=name) for _ in range(4)),
    )
    got = await shared.call("artifact_get", artifact_id=name, include_content=True, include_chunks=True)
    found = await shared.data("artifact_search", query="clerk number 33", limit=50)
    mine = [hit for hit in found["hits"] if hit["id"] == name]
    note = await shared.services.stores.notes.get("default", name)
    assert note is not None
    chunks = await shared.services.stores.chunks.of_note(note.note_id)
    if got.is_error:
        assert (mine, chunks) == ([], [])
    else:
        assert got.structured_content is not None
        assert len(mine) == 1
        assert len(chunks) == len(got.structured_content["chunks"])
        assert mine[0]["snippet"] in got.structured_content["content"]


async def test_searches_during_writes_show_whole_states_only(shared: Door) -> None:
    source = {**DOC, "source_id": "watched"}
    texts = [f"The toucan report says {'yes ' * 5}{i} {'no ' * 5}{i}" for i in range(8)]
    await shared.data("artifact_ingest", **source, content=texts[0])

    async def write() -> None:
        for text in texts[1:]:
            await shared.data("artifact_ingest", **source, content=text)

    async def read() -> list[str]:
        seen = []
        for _ in range(12):
            hits = (await shared.data("artifact_search", query="toucan report", limit=50))["hits"]
            mine = [hit["snippet"] for hit in hits if "toucan" in hit["snippet"]]
            assert len(mine) <= 1
            seen += mine
        return seen

    _, *seen = await asyncio.gather(write(), read(), read())
    assert all(snippet in texts for snippets in seen for snippet in snippets)
