"""What a call leaves in the log: the events of the specification with their fields, and nothing of anybody's texts."""

from __future__ import annotations

import json
import logging
import sys
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from nur.adapters.local.embedder import LocalEmbedder
from nur.adapters.openai.batches import BatchLimits
from nur.adapters.openai.embedder import OpenAIEmbedder
from nur.adapters.openai.retries import RetryPolicy
from nur.domain.embedding import EmbeddingModel
from nur.domain.errors import KeyRefused
from nur.entrypoints.http.store_lifecycle import StoreLifecycle
from nur.retrieval.text import tokens as cl100k
from nur.settings import load
from tests.artifact_texts import tokens
from tests.doubles.clock import ManualClock
from tests.servers import faults
from tests.servers.chroma_server import ChromaProcess
from tests.servers.nur_server import NurProcess, clean_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.acceptance.conftest import OpenWithoutJobs
    from tests.servers.openai_stub import OpenAIStub

DOC = {"artifact_type": "doc", "source_system": "drive", "source_id": "1"}
MODEL = "text-embedding-3-large"


class Log:
    """The events of this program, in order."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self._caplog = caplog
        caplog.set_level(logging.DEBUG, "nur")

    def names(self, component: str) -> list[str]:
        return [name for of, name, _, _ in self._all() if of == component]

    def fields(self, event: str, level: str = "INFO") -> dict[str, Any]:
        """The fields of an event that happened once, at this level."""
        found = [(fields, at) for _, name, at, fields in self._all() if name == event]
        assert [at for _, at in found] == [level]
        return found[0][0]

    def clear(self) -> None:
        self._caplog.clear()

    def _all(self) -> list[tuple[str, str, str, dict[str, Any]]]:
        return [
            (record.__dict__["component"], record.getMessage(), record.levelname, dict(record.__dict__["fields"]))
            for record in self._caplog.records
            if record.name.startswith("nur.")
        ]


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Log:
    return Log(caplog)


@pytest.fixture
def embedder(openai_stub: OpenAIStub) -> Callable[..., OpenAIEmbedder]:
    def make(texts: int = 100) -> OpenAIEmbedder:
        return OpenAIEmbedder(
            EmbeddingModel("openai", MODEL, 64),
            api_key="sk-test",
            count_tokens=cl100k.count,
            base_url=openai_stub.url,
            retry_policy=RetryPolicy(retries=1),
            limits=BatchLimits(texts=texts, in_flight=1),
            clock=ManualClock(),
            jitter=lambda: 0.0,
        )

    return make


# --- embedding ---


async def test_an_embedding_is_logged_when_asked_for_and_when_there(
    open_without_jobs: OpenWithoutJobs, embedder: Callable[..., OpenAIEmbedder], log: Log
) -> None:
    async with open_without_jobs(embedder=embedder()) as nur:
        await nur.text("memory_store", content="User prefers dark mode", type="fact", confidence=1.0)
    asked, given = log.fields("embedding_requested"), log.fields("embedding_generated")
    assert asked == {"model": MODEL, "input_length": 22, "token_count": 4, "batch_size": 1}
    assert given.pop("latency_ms") >= 0
    assert given == {"model": MODEL, "dimensions": 64, "input_length": 22, "token_count": 4, "batch_size": 1}
    assert log.names("EmbeddingService") == ["embedding_requested", "embedding_generated"]


async def test_a_local_model_logs_what_it_is_asked_for_too(open_without_jobs: OpenWithoutJobs, log: Log) -> None:
    async with open_without_jobs(embedder=LocalEmbedder()) as nur:
        await nur.data("memory_store", content="The river is high", type="fact", confidence=0.9)
    assert log.names("EmbeddingService") == ["embedding_requested", "embedding_generated"]
    assert log.fields("embedding_requested") == {
        "model": "wordllama-l2-supercat-2",
        "input_length": len("The river is high"),
        "batch_size": 1,
    }


async def test_a_start_that_is_refused_is_critical(log: Log) -> None:
    async with StoreLifecycle(load(embeddings="openai")) as opening:
        with pytest.raises(KeyRefused):
            async with opening.services():
                pass
    assert log.fields("start_refused", "CRITICAL") == {"error": "configuration"}


async def test_every_batch_is_logged(
    open_without_jobs: OpenWithoutJobs, embedder: Callable[..., OpenAIEmbedder], log: Log
) -> None:
    async with open_without_jobs(embedder=embedder(texts=4)) as nur:
        await nur.data("artifact_ingest", **DOC, content=tokens(4900))
    assert log.names("EmbeddingService").count("batch_embeddings_generated") == 2
    log.clear()
    async with open_without_jobs(embedder=embedder()) as nur:
        await nur.data("artifact_ingest", **{**DOC, "source_id": "another"}, content=tokens(4900))
    fields = log.fields("batch_embeddings_generated")
    assert (fields["batch_size"], fields["batch_index"], fields["total_batches"]) == (6, 0, 1)


async def test_retries_are_warnings_and_giving_up_is_an_error(
    open_without_jobs: OpenWithoutJobs, embedder: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub, log: Log
) -> None:
    async with open_without_jobs(embedder=embedder()) as nur:
        openai_stub.fail_forever(faults.status(429))
        await nur.refusal("memory_store", content="User prefers dark mode", type="fact", confidence=1.0)
    assert log.fields("embedding_retry", "WARNING") == {"attempt": 1, "error": "rate_limit", "backoff_ms": 1000}
    failed = log.fields("embedding_failed", "ERROR")
    assert (failed["attempts"], failed["error"], failed["failed"]) == (2, "rate_limit", 1)
    assert log.fields("tool_failed", "WARNING") == {"tool": "memory_store", "error": "embedding_failed"}


# --- ingestion ---


async def test_an_ingest_is_logged_from_start_to_end(open_without_jobs: OpenWithoutJobs, log: Log) -> None:
    async with open_without_jobs() as nur:
        made = await nur.data("artifact_ingest", **DOC, content=tokens(5000))
    name = made["artifact_id"]
    assert log.fields("artifact_ingest_started") == {
        "artifact_id": name,
        "artifact_type": "doc",
        "source_system": "drive",
        "source_id": DOC["source_id"],
        "token_count": 5000,
        "will_chunk": True,
    }
    average = round((6 * 900 + 200) / 7)
    chunked = {"artifact_id": name, "num_chunks": 7, "chunk_size_avg": average, "overlap": 100}
    assert log.fields("artifact_chunked") == chunked
    ended = log.fields("artifact_ingest_completed")
    assert ended.pop("total_latency_ms") >= 0
    assert ended == {
        "artifact_id": name,
        "source_id": DOC["source_id"],
        "outcome": "created",
        "is_chunked": True,
        "num_chunks": 7,
        "token_count": 5000,
    }
    assert log.names("IngestionService") == [
        "artifact_ingest_started", "artifact_chunked", "artifact_ingest_completed"
    ]  # fmt: skip
    assert log.fields("chunk_decision", "DEBUG") == {"token_count": 5000, "threshold": 1200, "will_chunk": True}
    assert log.fields("text_chunked") == {
        "artifact_id": name, "total_tokens": 5000, "num_chunks": 7, "avg_chunk_size": average, "overlap_tokens": 100
    }  # fmt: skip


async def test_a_whole_artifact_is_not_logged_as_chunked(open_without_jobs: OpenWithoutJobs, log: Log) -> None:
    async with open_without_jobs() as nur:
        await nur.data("artifact_ingest", **DOC, content=tokens(1200))
    assert log.fields("artifact_ingest_started")["will_chunk"] is False
    assert log.fields("chunk_decision", "DEBUG") == {"token_count": 1200, "threshold": 1200, "will_chunk": False}
    ended = log.fields("artifact_ingest_completed")
    assert (ended["is_chunked"], ended["num_chunks"]) == (False, 0)
    assert "text_chunked" not in log.names("ChunkingService")
    assert "artifact_chunked" not in log.names("IngestionService")


async def test_an_unchanged_artifact_is_logged_without_being_cut(open_without_jobs: OpenWithoutJobs, log: Log) -> None:
    async with open_without_jobs() as nur:
        made = await nur.data("artifact_ingest", **DOC, content=tokens(1300))
        log.clear()
        await nur.data("artifact_ingest", **DOC, content=tokens(1300))
    started = log.fields("artifact_ingest_started")
    assert (started["artifact_id"], started["token_count"]) == (made["artifact_id"], 1300)
    assert log.fields("artifact_ingest_completed")["outcome"] == "unchanged"
    assert log.names("ChunkingService") == []
    assert log.names("IngestionService") == ["artifact_ingest_started", "artifact_ingest_completed"]


async def test_an_aborted_two_phase_write_is_logged_with_its_counts(
    open_without_jobs: OpenWithoutJobs, embedder: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub, log: Log
) -> None:
    async with open_without_jobs(embedder=embedder(texts=1)) as nur:
        openai_stub.fail(*[faults.slow(0)] * 4)
        openai_stub.fail_forever(faults.status(400))
        await nur.refusal("artifact_ingest", **DOC, content=tokens(4900))
    assert log.fields("two_phase_write_aborted", "ERROR") == {"failed": 2, "total": 6, "error": "embedding_refused"}
    assert log.names("IngestionService") == ["artifact_ingest_started", "artifact_chunked"]  # and no end


# --- search ---


@pytest.mark.parametrize(
    ("tool", "asked", "collections", "memory"),
    [
        ("artifact_search", {}, ["artifact_chunks", "artifacts"], False),
        ("memory_search", {}, ["memory"], True),
        ("hybrid_search", {}, ["artifact_chunks", "artifacts"], False),
        ("hybrid_search", {"include_memory": True}, ["artifact_chunks", "artifacts", "memory", "notes"], True),
        ("hybrid_search", {"include_history": True}, ["artifact_chunks", "artifacts", "history"], False),
    ],
)
async def test_a_search_is_logged_when_it_starts_and_when_it_ends(
    open_without_jobs: OpenWithoutJobs, log: Log, tool: str, asked: dict[str, Any], collections: list[str], memory: bool
) -> None:
    async with open_without_jobs() as nur:
        await nur.data("artifact_ingest", **DOC, content="the river and the stone")
        await nur.text("memory_store", content="the river", type="fact", confidence=1.0)
        log.clear()
        found = await nur.data(tool, query="river", **asked)
    started = log.fields("search_started")
    assert started.pop("collections") == collections
    assert started == {"tool": tool, "query_length": 5, "include_memory": memory}
    ended = log.fields("search_completed")
    assert ended.pop("latency_ms") >= 0
    assert ended.pop("collections_searched") == collections
    assert ended.pop("search_id") == found["search_id"]
    assert ended.pop("top_scores") == [hit["score"] for hit in found["hits"]]
    assert ended == {"tool": tool, "results_count": len(found["hits"]), "rrf_applied": False, "degraded": []}


async def test_rrf_is_applied_where_it_orders(open_without_jobs: OpenWithoutJobs, log: Log) -> None:
    async with open_without_jobs(fusion="rrf") as nur:
        await nur.data("memory_search", query="river")
    assert log.fields("search_completed")["rrf_applied"] is True


async def test_a_degraded_search_says_so_in_the_log(
    open_without_jobs: OpenWithoutJobs, embedder: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub, log: Log
) -> None:
    async with open_without_jobs(embedder=embedder()) as nur:
        openai_stub.fail_forever(faults.status(401))
        await nur.data("memory_search", query="river")
    assert log.fields("dense_unavailable", "WARNING") == {"error": "KeyRefused"}
    ended = log.fields("search_completed")
    assert (ended["degraded"], ended["rrf_applied"]) == (["dense"], False)


# --- nothing of anybody's texts ---


async def test_no_text_query_or_key_reaches_the_log_whatever_happens(tmp_path: Path, openai_stub: OpenAIStub) -> None:
    canary = "canary-5521"
    settings = {
        "LOG_LEVEL": "DEBUG",
        "OPENAI_API_KEY": f"sk-{canary}",
        "OPENAI_BASE_URL": openai_stub.url,
        "OPENAI_EMBED_DIMS": "64",
        "OPENAI_MAX_RETRIES": "0",
    }
    memory = {"content": f"{canary} sings", "type": "fact", "confidence": 1.0}
    document = {**DOC, "title": canary, "author": canary, "source_url": f"https://example.com/{canary}"}
    with NurProcess(tmp_path / "quiet", **settings) as server:
        async with Client(f"{server.url}/mcp") as client:
            calls: list[tuple[str, dict[str, Any]]] = [
                ("memory_store", memory),
                ("history_append", {"conversation_id": "c", "role": "user", "content": canary, "turn_index": 0}),
                ("artifact_ingest", {**document, "content": f"{canary} " + tokens(1500)}),
                ("artifact_ingest", {**document, "content": f"{canary} changed"}),
                ("memory_search", {"query": canary}),
                ("hybrid_search", {"query": f"{canary}?", "include_memory": True, "filters": {"type": canary}}),
                ("memory_store", {**memory, "type": canary}),  # bad input
                ("memory_store", {**memory, canary: 1}),
                ("artifact_ingest", {**document, "content": canary, "ts": canary}),
                ("artifact_get", {"artifact_id": f"art_{canary}"}),
            ]
            # The stub's errors repeat the key and the text that they were sent.
            for fault in (None, faults.status(400), faults.status(401), faults.status(500), faults.HTML):
                openai_stub.heal()
                if fault is not None:
                    openai_stub.fail_forever(fault)
                for tool, arguments in calls:
                    name = next((name for name in ("content", "query") if name in arguments), None)
                    fresh = {name: f"{arguments[name]} {fault}"} if name else {}  # nothing is known or cached
                    await client.call_tool(tool, arguments | fresh)
        lines = server.log.read_text()
    assert canary not in lines
    events = [json.loads(line)["event"] for line in lines.splitlines() if line.startswith("{")]
    assert {"embedding_failed", "tool_failed", "two_phase_write_aborted", "dense_unavailable"} <= set(events)


CANARY = "canary-8814"


async def _call_every_door(server: NurProcess) -> None:
    """Store, find and fail with the canary through MCP in both eras, the relay and REST."""
    relay = StdioServerParameters(
        command=sys.executable, args=["-m", "nur", "stdio"], env=clean_environment(server.folder)
    )
    calls: list[tuple[str, dict[str, Any]]] = [
        ("memory_store", {"content": f"{CANARY} sings", "type": "fact", "confidence": 1.0}),
        ("artifact_ingest", {**DOC, "title": CANARY, "author": CANARY, "content": f"{CANARY} " + tokens(1500)}),
        ("history_append", {"conversation_id": "c", "role": "user", "content": CANARY, "turn_index": 0}),
        ("hybrid_search", {"query": CANARY, "include_memory": True}),
        ("memory_list", {}),
        ("memory_store", {"content": CANARY, CANARY: CANARY}),
    ]
    for client in (
        Client(f"{server.url}/mcp"),
        Client(f"{server.url}/mcp", mode="legacy"),
        Client(stdio_client(relay), mode="legacy"),
    ):
        async with client:
            for tool, arguments in calls:
                await client.call_tool(tool, arguments)
    async with httpx2.AsyncClient(base_url=server.url, timeout=60) as rest:
        await rest.post("/v2/notes?wait=indexed", json={"text": f"{CANARY} rests", "metadata": {CANARY: CANARY}})
        await rest.post("/v2/searches", json={"query": CANARY})
        await rest.post("/v2/notes", json={"text": CANARY, CANARY: CANARY})
        await rest.post("/v2/notes", content=CANARY)
        await rest.get(f"/v2/notes/{CANARY}?{CANARY}={CANARY}")
        await rest.post("/mcp", content=CANARY, headers={"Content-Type": "application/json", "Accept": "*/*"})


@pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"])
async def test_no_level_logs_contents_through_any_door(tmp_path: Path, openai_stub: OpenAIStub, level: str) -> None:
    settings = {"OPENAI_API_KEY": f"sk-{CANARY}", "OPENAI_BASE_URL": openai_stub.url, "OPENAI_EMBED_DIMS": "64"}
    with NurProcess(tmp_path / "quiet", LOG_LEVEL=level, **settings) as server:
        await _call_every_door(server)
        lines = server.log.read_text()
    assert CANARY not in lines
    events = {json.loads(line)["event"] for line in lines.splitlines() if line.startswith("{")}
    assert ("chunk_decision" in events) == (level == "DEBUG")
    assert ("tool_failed" in events) == (level in ("DEBUG", "INFO", "WARNING"))


@pytest.mark.parametrize("level", ["DEBUG", "INFO"])
async def test_the_chroma_client_logs_no_requests(tmp_path: Path, level: str) -> None:
    with (
        ChromaProcess(tmp_path / "chroma") as chroma,
        NurProcess(tmp_path / "nur", LOG_LEVEL=level, CHROMA_HOST=chroma.host, CHROMA_PORT=str(chroma.port)) as server,
    ):
        await _call_every_door(server)
        lines = [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]
    assert CANARY not in str(lines)
    assert {line["event"] for line in lines} >= {"note_indexed", "search_completed"}
    assert "HTTP Request" not in str(lines)
    assert [line for line in lines if line["component"].startswith(("httpx", "httpcore", "chromadb"))] == []
