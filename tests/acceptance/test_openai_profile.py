"""With an OpenAI-compatible provider, well and unwell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nur.domain.errors import BadConfiguration, KeyRefused
from nur.domain.notes import ChunkKey
from nur.entrypoints.cli.app import run
from tests.doubles.embedder import hashed_words
from tests.rest_client import open_rest
from tests.servers import faults

if TYPE_CHECKING:
    from nur.ports.embedder import Floats
    from tests.acceptance.conftest import Door, OpenDoor
    from tests.servers.openai_stub import OpenAIStub

LONG = " ".join(f"Chapter {i} tells of the lighthouse keeper number {i} and his lamp." for i in range(300))


@pytest.fixture
def openai(openai_stub: OpenAIStub) -> dict[str, Any]:
    """Settings that point at the stub."""
    return {
        "openai_api_key": "sk-test",
        "openai_base_url": openai_stub.url,
        "openai_embed_dims": 64,
        "openai_max_retries": 0,
    }


async def test_a_key_makes_a_new_store_use_openai(open_door: OpenDoor, openai: dict[str, Any]) -> None:
    async with open_door(**openai) as nur:
        health = await nur.data("embedding_health")
        assert health["provider"] == "openai"
        assert health["api_key_configured"] is True
        assert health["api_status"] == "healthy"
        assert health["test_embedding_dimensions"] == 64


async def test_memory_store_with_openai(open_door: OpenDoor, openai: dict[str, Any], openai_stub: OpenAIStub) -> None:
    async with open_door(**openai) as nur:
        before = len(openai_stub.requests)
        content = "User prefers dark mode"
        told = {"type": "preference", "confidence": 0.9, "conversation_id": "conv-7"}
        stored = await nur.data("memory_store", content=content, **told)
        (request,) = openai_stub.requests[before:]
        assert (request.inputs, request.payload["model"], request.payload["dimensions"]) == (
            [content],
            "text-embedding-3-large",
            64,
        )
        (listed,) = (await nur.data("memory_list"))["memories"]
        assert (listed["memory_id"], listed["content"]) == (stored["memory_id"], content)
        assert {name: listed[name] for name in told} == told
        assert listed["ts"].endswith("Z")
        ((_, record),) = await _records(nur, "openai:text-embedding-3-large:64")
        assert np.allclose(record, hashed_words(content, 64))


async def _records(nur: Door, version: str) -> list[tuple[ChunkKey, Floats]]:
    """Every chunk that has a vector of this model, with the vector."""
    page = await nur.services.stores.vectors.page(version, ChunkKey(0), 100, nur.services.clock.now())
    return [(one.stored.chunk_key, vector) for one, vector in page]


async def test_memory_search_with_openai(open_door: OpenDoor, openai: dict[str, Any], openai_stub: OpenAIStub) -> None:
    """By meaning: the question has no word of the memory."""
    question = "Which colours should the screen have?"
    openai_stub.meanings[question] = "User prefers dark mode"
    async with open_door(**openai) as nur:
        stored = await nur.data("memory_store", content="User prefers dark mode", type="preference", confidence=0.9)
        await nur.text("memory_store", content="Invoices are due on Friday", type="fact", confidence=0.9)
        found = await nur.data("memory_search", query=question, limit=1)
        assert found["degraded"] == []
        assert [hit["id"] for hit in found["hits"]] == [stored["memory_id"]]


async def test_history_append_with_openai(open_door: OpenDoor, openai: dict[str, Any], openai_stub: OpenAIStub) -> None:
    async with open_door(**openai) as nur:
        before = len(openai_stub.requests)
        text = await nur.text("history_append", conversation_id="c", role="user", content="Hello", turn_index=0)
        assert text == "Appended turn 0 to c"
        assert len(openai_stub.requests) == before + 1


async def test_an_unchanged_memory_costs_no_embedding(
    open_door: OpenDoor, openai: dict[str, Any], openai_stub: OpenAIStub
) -> None:
    async with open_door(**openai) as nur:
        await nur.text("memory_store", content="User prefers dark mode", type="preference", confidence=0.9)
        before = len(openai_stub.requests)
        await nur.text("memory_store", content="User prefers dark mode", type="preference", confidence=0.9)
        assert len(openai_stub.requests) == before


async def test_a_provider_outage_rejects_the_write_and_keeps_nothing(
    open_door: OpenDoor, openai: dict[str, Any], openai_stub: OpenAIStub
) -> None:
    async with open_door(**openai) as nur:
        openai_stub.fail_forever(faults.status(503))
        told = await nur.refusal("memory_store", content="lost?", type="fact", confidence=1.0)
        assert told.startswith("Failed to store memory: OpenAI service unavailable")
        assert await nur.text("memory_list") == "No memories found. No memories are stored yet."


async def test_ingest_two_phase_atomic_failure(
    open_door: OpenDoor, openai: dict[str, Any], openai_stub: OpenAIStub
) -> None:
    async with open_door(**openai, openai_batch_size=2) as nur:
        openai_stub.fail(None, faults.status(500))  # the first batch is embedded, the second is not
        told = await nur.refusal(
            "artifact_ingest", artifact_type="doc", source_system="drive", source_id="1", content=LONG
        )
        assert told.startswith("Failed to ingest artifact: embedding generation failed for ")
        assert " chunks. No data was written. Error: " in told
        openai_stub.heal()
        assert await nur.text("artifact_search", query="lighthouse") == "No results found. No documents are stored yet."


async def test_a_failed_re_ingest_leaves_the_old_version_whole(
    open_door: OpenDoor, openai: dict[str, Any], openai_stub: OpenAIStub
) -> None:
    source = {"artifact_type": "doc", "source_system": "drive", "source_id": "1"}
    async with open_door(**openai) as nur:
        first = await nur.data("artifact_ingest", **source, content=LONG)
        openai_stub.fail_forever(faults.status(500))
        await nur.refusal("artifact_ingest", **source, content="something else entirely")
        openai_stub.heal()
        kept = await nur.data("artifact_get", artifact_id=first["artifact_id"], include_content=True)
        assert kept["content"] == LONG


async def test_search_without_the_provider_answers_by_words_and_says_so(
    open_door: OpenDoor, openai: dict[str, Any], openai_stub: OpenAIStub
) -> None:
    async with open_door(**openai) as nur:
        await nur.text("memory_store", content="User prefers dark mode", type="preference", confidence=0.9)
        openai_stub.fail_forever(faults.status(503))
        answer = await nur.data("memory_search", query="dark")
        assert answer["degraded"] == ["dense"]
        assert answer["hits"][0]["snippet"] == "User prefers dark mode"
        nothing = await nur.data("memory_search", query="zebra")
        assert nothing["reason"] == "degraded"


async def test_defer_commits_at_once_and_embeds_when_the_provider_is_back(
    open_door: OpenDoor, openai: dict[str, Any], openai_stub: OpenAIStub
) -> None:
    async with open_door(**openai, on_embedding_failure="defer") as nur:
        openai_stub.fail_forever(faults.status(503))
        stored = await nur.data("memory_store", content="User prefers dark mode", type="preference", confidence=0.9)
        assert stored["index_state"] == "pending"
        assert "dark" in await nur.text("memory_search", query="dark")
        openai_stub.heal()
        note = await nur.services.stores.notes.get("default", stored["memory_id"])
        assert note is not None
        for _ in range(100):  # the worker tries again by itself; here it is asked, so that nothing waits
            await nur.services.index_worker.once()
            if not await nur.services.stores.vectors.missing(note.note_id, nur.services.embedder.model.version):
                break
        again = await nur.data("memory_store", content="User prefers dark mode", type="preference", confidence=0.9)
        assert again["outcome"] == "unchanged"


WRITES: list[tuple[str, dict[str, Any]]] = [
    ("/v2/notes", {"text": "The gate is open."}),
    ("/v2/events", {"text": "The gate was opened."}),
    ("/v2/memories", {"text": "Likes the gate open."}),
]


@pytest.mark.parametrize(("path", "body"), WRITES)
async def test_reject_keeps_nothing_over_rest_either(
    openai: dict[str, Any], openai_stub: OpenAIStub, path: str, body: dict[str, Any]
) -> None:
    async with open_rest(**openai, on_embedding_failure="reject") as rest:
        openai_stub.fail_forever(faults.status(503))
        problem = await rest.problem(503, "POST", path, body, Idempotency_Key="once")
        assert (problem["code"], problem["retryable"]) == ("embedding_failed", True)
        assert (await rest.ok("GET", "/v2/notes"))["notes"] == []
        openai_stub.heal()
        stored = await rest.ok("POST", path, body, Idempotency_Key="once")  # the key was not spent
        assert (stored["operation"], stored["index_state"]) == ("created", "indexed")


async def test_reject_leaves_a_note_as_it_was(openai: dict[str, Any], openai_stub: OpenAIStub) -> None:
    async with open_rest(**openai, on_embedding_failure="reject") as rest:
        name = (await rest.ok("POST", "/v2/notes", {"text": "The gate is open."}))["note_id"]
        openai_stub.fail_forever(faults.status(503))
        await rest.problem(503, "PATCH", f"/v2/notes/{name}", {"text": "The gate is shut."})
        assert (await rest.ok("GET", f"/v2/notes/{name}"))["text"] == "The gate is open."
        assert (await rest.ok("PATCH", f"/v2/notes/{name}", {"title": "Gate"}))["operation"] == "metadata_updated"
        await rest.ok("DELETE", f"/v2/notes/{name}")
        await rest.problem(503, "POST", "/v2/admin/trash/restore", {"note_id": name})
        assert [note["note_id"] for note in (await rest.ok("GET", "/v2/admin/trash"))["notes"]] == [name]


@pytest.mark.parametrize("policy", ["auto", "defer"])
@pytest.mark.parametrize(("path", "body"), WRITES)
async def test_rest_defers_by_default(
    openai: dict[str, Any], openai_stub: OpenAIStub, path: str, body: dict[str, Any], policy: str
) -> None:
    async with open_rest(**openai, on_embedding_failure=policy) as rest:
        openai_stub.fail_forever(faults.status(503))
        stored = await rest.ok("POST", path, body)
        assert (stored["operation"], stored["index_state"]) == ("created", "pending")
        found = await rest.ok("POST", "/v2/searches", {"query": "gate"})
        assert [item["note_id"] for item in found["items"]] == [stored["note_id"]]


def test_the_command_line_obeys_reject(
    openai: dict[str, Any], openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {**openai, "on_embedding_failure": "reject"}.items():
        monkeypatch.setenv(name.upper(), str(value))
    assert run(["remember", "The gate is open."]) == 0
    openai_stub.fail_forever(faults.status(503))
    assert run(["remember", "The gate is shut."]) == 1
    assert "OpenAI service unavailable" in capsys.readouterr().err
    openai_stub.heal()
    assert run(["list"]) == 0
    listed = capsys.readouterr().out
    assert "open" in listed
    assert "shut" not in listed


async def test_a_refused_key_stops_the_start(
    open_door: OpenDoor, openai: dict[str, Any], openai_stub: OpenAIStub
) -> None:
    openai_stub.fail_forever(faults.status(401))
    with pytest.raises(KeyRefused, match="OPENAI_API_KEY"):
        async with open_door(**openai):
            pass


async def test_a_missing_key_stops_the_start(open_door: OpenDoor) -> None:
    with pytest.raises(KeyRefused, match="OPENAI_API_KEY not configured"):
        async with open_door(embeddings="openai"):
            pass


async def test_an_unreachable_provider_starts_degraded_and_recovers_by_itself(
    open_door: OpenDoor, openai: dict[str, Any], openai_stub: OpenAIStub
) -> None:
    openai_stub.fail_forever(faults.status(503))
    async with open_door(**openai) as nur:
        report = await nur.services.health()
        assert report.status == "degraded"
        assert report.checks["openai"]["status"] == "unhealthy"
        openai_stub.heal()
        await nur.text("memory_store", content="User prefers dark mode", type="preference", confidence=0.9)


async def test_another_model_than_the_stores_is_refused_with_the_way_out(
    open_door: OpenDoor, openai: dict[str, Any]
) -> None:
    async with open_door(**openai) as nur:
        await nur.text("memory_store", content="User prefers dark mode", type="preference", confidence=0.9)
    with pytest.raises(BadConfiguration, match="nur reembed --to openai:text-embedding-3-large:32"):
        async with open_door(**openai | {"openai_embed_dims": 32}):
            pass
    with pytest.raises(BadConfiguration, match="EMBEDDINGS=local"):
        async with open_door(**openai, embeddings="local"):
            pass


async def test_a_key_set_later_does_not_change_a_local_store(open_door: OpenDoor, openai: dict[str, Any]) -> None:
    async with open_door():
        pass
    async with open_door(openai_api_key="sk-new") as nur:
        assert (await nur.data("embedding_health"))["provider"] == "local"
