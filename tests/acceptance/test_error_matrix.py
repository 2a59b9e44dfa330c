"""The error matrix of the specification, section 6, row by row, as a client sees it.

Rows that Nur replaces are tested as they are replaced; docs/reference/errors.md lists them. Not here: a Chroma
collection that is missing is made again (tests/contract/test_chroma_collections.py).
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import pytest

from nur.adapters.openai.batches import BatchLimits
from nur.adapters.openai.embedder import OpenAIEmbedder
from nur.adapters.openai.retries import RetryPolicy
from nur.adapters.sql.chunks import read_candidates
from nur.adapters.sql.sqlite.threads import SqliteRunner
from nur.domain.embedding import EmbeddingModel
from nur.domain.errors import KeyRefused, StoreDown
from nur.domain.writes import OnEmbeddingFailure
from nur.retrieval.text import tokens as cl100k
from nur.services.indexing.index_worker import MAX_TRIES
from tests.artifact_texts import tokens
from tests.doubles.clock import ManualClock
from tests.doubles.embedder import InMemoryEmbedder
from tests.servers import faults

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from tests.acceptance.conftest import Door, OpenDoor, OpenWithoutJobs
    from tests.servers.faults import Fault
    from tests.servers.openai_stub import OpenAIStub

MEMORY = {"content": "User prefers dark mode", "type": "preference", "confidence": 0.9}
TURN = {"conversation_id": "c", "role": "user", "content": "Hello there", "turn_index": 0}
DOC = {"artifact_type": "doc", "source_system": "drive", "source_id": "1"}
KEY = "OpenAI API key is invalid or missing. Check OPENAI_API_KEY environment variable."
INGEST_FAILED = "Failed to ingest artifact: embedding generation failed for {} chunks. No data was written. Error: "
P = ParamSpec("P")
T = TypeVar("T")
TYPES = "email, doc, chat, transcript, note"


@pytest.fixture
def embedder(openai_stub: OpenAIStub) -> Callable[..., OpenAIEmbedder]:
    """The real adapter at the stub, whose waits between attempts take no time."""

    def make(**limits: int) -> OpenAIEmbedder:
        return OpenAIEmbedder(
            EmbeddingModel("openai", "text-embedding-3-large", 64),
            api_key="sk-test",
            count_tokens=cl100k.count,
            base_url=openai_stub.url,
            retry_policy=RetryPolicy(timeout_seconds=0.6),
            limits=BatchLimits(**limits),
            clock=ManualClock(),
            jitter=lambda: 0.0,
        )

    return make


async def failure(nur: Door, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured content of a result that must say no, in the words of its text."""
    told = await nur.refusal(tool, **arguments)
    structured = (await nur.call(tool, **arguments)).structured_content
    assert structured is not None
    assert structured["message"] == told
    return dict(structured)


# --- 6.1 The embedding provider ---


@pytest.mark.parametrize(
    ("fault", "error", "code", "retryable", "requests"),
    [
        (faults.status(401), KEY, "configuration", False, 1),
        (
            faults.status(429),
            "Failed after 3 attempts due to rate limiting. Try again later.",
            "embedding_failed", True, 4,
        ),
        (faults.status(500), "OpenAI service unavailable after 3 attempts.", "embedding_failed", True, 4),
        (faults.status(502), "OpenAI service unavailable after 3 attempts.", "embedding_failed", True, 4),
        (faults.status(503), "OpenAI service unavailable after 3 attempts.", "embedding_failed", True, 4),
        (faults.RESET, "OpenAI service unavailable after 3 attempts.", "embedding_failed", True, 4),
        (faults.HANG, "Request failed after 3 timeouts.", "embedding_failed", True, 4),
        (
            faults.status(400),
            "Invalid text for embedding: the provider answered HTTP 400",
            "embedding_refused", False, 1,
        ),
        # Beyond the specification: waiting mends neither of these.
        (
            faults.status(404),
            "The provider does not know the embedding model. Check OPENAI_EMBED_MODEL and OPENAI_BASE_URL.",
            "embedding_failed", False, 1,
        ),
        (
            faults.WRONG_DIMENSION,
            "The embedding model returned 63 dimensions instead of 64. Check OPENAI_EMBED_MODEL and OPENAI_EMBED_DIMS.",
            "embedding_failed", False, 1,
        ),
    ],
    ids=lambda value: value.name if isinstance(value, faults.Fault) else None,
)  # fmt: skip
async def test_a_provider_error_fails_writes_in_the_words_of_the_specification(
    open_without_jobs: OpenWithoutJobs,
    embedder: Callable[..., OpenAIEmbedder],
    openai_stub: OpenAIStub,
    fault: Fault,
    error: str,
    code: str,
    retryable: bool,
    requests: int,
) -> None:
    async with open_without_jobs(embedder=embedder()) as nur:
        await nur.text("memory_store", **MEMORY | {"content": "stored while all was well"})
        openai_stub.fail_forever(fault)
        before = len(openai_stub.requests)
        assert await nur.refusal("memory_store", **MEMORY) == f"Failed to store memory: {error}"
        assert len(openai_stub.requests) - before == requests
        for tool, arguments, words in (
            ("history_append", TURN, f"Failed to append turn: {error}"),
            (
                "artifact_ingest",
                {**DOC, "content": "a document"},
                f"{INGEST_FAILED.format(1)}{error}",
            ),
        ):
            result = await nur.call(tool, **arguments)
            assert result.is_error
            assert result.structured_content == {"code": code, "message": words, "retryable": retryable}
        # A failed query embedding does not fail a search: what has the words is found, and the rest is said.
        found = await nur.data("memory_search", query="all was well")
        assert (len(found["hits"]), found["degraded"]) == (1, ["dense"])
        nothing = await nur.data("memory_search", query="zebra")
        assert (nothing["hits"], nothing["reason"]) == ([], "degraded")
        assert (await nur.data("artifact_search", query="document"))["reason"] == "nothing_stored"


async def test_the_waits_between_attempts_are_one_two_and_four_seconds(
    open_without_jobs: OpenWithoutJobs, embedder: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    made = embedder()
    async with open_without_jobs(embedder=made) as nur:
        openai_stub.fail(faults.status(429), faults.status(503), faults.status(500))
        await nur.text("memory_store", **MEMORY)
        assert made._clock.sleeps == [1.0, 2.0, 4.0]  # type: ignore[attr-defined]


async def test_a_key_refused_while_running_is_told_and_mends_itself(
    open_without_jobs: OpenWithoutJobs, embedder: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    async with open_without_jobs(embedder=embedder()) as nur:
        stored = await nur.data("artifact_ingest", **DOC, content="a document")
        openai_stub.fail_forever(faults.status(401))
        told = await failure(nur, "artifact_reembed", artifact_id=stored["artifact_id"])
        assert told == {
            "code": "configuration", "message": f"Failed to generate embeddings: {KEY}", "retryable": False
        }  # fmt: skip
        health = await nur.data("embedding_health")
        assert (health["api_status"], health["error"]) == ("unhealthy", KEY)
        openai_stub.heal()
        assert await nur.text("memory_store", **MEMORY)


async def test_what_was_deferred_waits_for_a_refused_key_however_long(
    open_without_jobs: OpenWithoutJobs, embedder: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    clock = ManualClock()
    async with open_without_jobs(embedder=embedder(), clock=clock, on_embedding_failure="defer") as nur:
        assert nur.services.on_failure.for_tools is OnEmbeddingFailure.DEFER
        openai_stub.fail_forever(faults.status(401))
        stored = await nur.data("memory_store", **MEMORY)
        assert stored["index_state"] == "pending"
        for _ in range(MAX_TRIES + 2):
            assert await nur.services.index_worker.once() == 1
            clock.advance(3600)
        backlog = await nur.services.stores.outbox.backlog(clock.now())
        assert (backlog.pending, backlog.dead) == (1, 0)
        openai_stub.heal()
        await nur.services.index_worker.once()
        assert (await nur.services.stores.outbox.backlog(clock.now())).pending == 0
        found = await nur.data("memory_search", query="dark", response_format="detailed")
        assert found["hits"][0]["ranks"].get("dense") == 1


# --- 6.2 Chroma ---


async def test_an_unreachable_chroma_is_told_by_health_and_the_log_and_stops_nothing(
    open_door: OpenDoor, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("chromadb")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens there, and nobody else will
        port = taken.getsockname()[1]
        told = f"Cannot connect to ChromaDB at 127.0.0.1:{port}. Ensure ChromaDB is running."
        async with open_door(chroma_host="127.0.0.1", chroma_port=port) as nur:
            await nur.text("memory_store", **MEMORY)
            assert (await nur.data("memory_search", query="dark mode"))["degraded"] == ["dense"]
            report = await nur.services.health()
            assert (report.status, report.checks["chromadb"]["error"]) == ("degraded", told)
        down = next(record for record in caplog.records if record.getMessage() == "index_down")
        assert down.__dict__["fields"]["error"] == told


async def test_the_same_id_again_updates(open_without_jobs: OpenWithoutJobs) -> None:
    async with open_without_jobs() as nur:
        made = await nur.data("artifact_ingest", **DOC, content="one text")
        told = await nur.text("artifact_ingest", **DOC, content="another text")
        assert told == f"Updated existing artifact {made['artifact_id']}"


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        ({"colour": "red"}, "Invalid filter: colour"),
        ({"artifact_type": "doc", "$where": "1"}, "Invalid filter: $where"),
        ({"x\n" * 60: 1}, f"Invalid filter: {('x ' * 60)[:60].rstrip()}..."),
    ],
)
async def test_a_bad_filter_is_named(open_without_jobs: OpenWithoutJobs, filters: dict[str, Any], told: str) -> None:
    async with open_without_jobs() as nur:
        assert await nur.refusal("hybrid_search", query="q", filters=filters) == told


# --- 6.3 Tools ---


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "told"),
    [
        ("artifact_ingest", {"content": "c"}, "bad_request", "Missing required field: artifact_type"),
        ("artifact_ingest", {"artifact_type": "doc"}, "bad_request", "Missing required field: source_system"),
        ("artifact_ingest", DOC, "bad_request", "Missing required field: content"),
        (
            "artifact_ingest",
            {"artifact_type": "pdf", "source_system": "s", "content": "c"},
            "bad_request",
            f"Invalid artifact_type: pdf. Must be one of: {TYPES}",
        ),
        (
            "artifact_ingest",
            {**DOC, "content": "x" * 10_000_001},
            "bad_request",
            "Content exceeds maximum size of 10MB",
        ),
        ("artifact_search", {"query": "q" * 501}, "bad_request", "Query exceeds maximum length of 500 characters"),
        ("artifact_search", {"query": "q", "limit": 0}, "bad_request", "Limit must be between 1 and 50"),
        ("artifact_search", {"query": "q", "limit": 51}, "bad_request", "Limit must be between 1 and 50"),
        ("artifact_get", {"artifact_id": "art_1"}, "not_found", "Artifact art_1 not found"),
        ("artifact_get", {"artifact_id": "mem_1"}, "bad_request", "Invalid artifact_id: must start with 'art_'"),
        ("artifact_delete", {"artifact_id": "art_1"}, "not_found", "Artifact art_1 not found"),
        ("artifact_delete", {"artifact_id": "x"}, "bad_request", "Invalid artifact_id: must start with 'art_'"),
        ("artifact_reembed", {"artifact_id": "art_1"}, "not_found", "Artifact art_1 not found"),
        ("hybrid_search", {"query": "q" * 501}, "bad_request", "Query exceeds maximum length of 500 characters"),
        ("hybrid_search", {"query": "q", "limit": 51}, "bad_request", "Limit must be between 1 and 50"),
        ("memory_delete", {"memory_id": "mem_1"}, "not_found", "Memory mem_1 not found"),
    ],
)  # fmt: skip
async def test_a_tools_error_has_the_words_of_the_specification(
    open_without_jobs: OpenWithoutJobs, tool: str, arguments: dict[str, Any], code: str, told: str
) -> None:
    async with open_without_jobs() as nur:
        assert await failure(nur, tool, **arguments) == {"code": code, "message": told, "retryable": False}


class BreakableRunner(SqliteRunner):
    """While `broken` is set, nothing can be written and no candidates can be read."""

    broken = False

    async def read(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        if body is read_candidates:
            self._fail()
        return await super().read(body, *args, **kwargs)

    async def write(self, body: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        self._fail()
        return await super().write(body, *args, **kwargs)

    def _fail(self) -> None:
        if self.broken:
            raise StoreDown("The store could not be read or written. See the server's log.")


async def test_a_store_that_fails_is_told_by_what_could_not_be_done(open_without_jobs: OpenWithoutJobs) -> None:
    run = BreakableRunner()
    async with open_without_jobs(run=run) as nur:
        artifact = (await nur.data("artifact_ingest", **DOC, content=tokens(1300)))["artifact_id"]
        memory = (await nur.data("memory_store", **MEMORY))["memory_id"]
        run.broken = True
        for tool, arguments, prefix in (
            ("artifact_ingest", {**DOC, "content": "another"}, "Failed to store artifact"),
            ("artifact_delete", {"artifact_id": artifact}, "Failed to delete chunks"),
            ("artifact_reembed", {"artifact_id": artifact}, "Failed to store artifact"),
            ("memory_store", MEMORY | {"content": "another"}, "Failed to store memory"),
            ("memory_delete", {"memory_id": memory}, "Failed to delete memory"),
            ("history_append", TURN, "Failed to append turn"),
        ):
            assert await failure(nur, tool, **arguments) == {
                "code": "storage_failed",
                "message": f"{prefix}: The store could not be read or written. See the server's log.",
                "retryable": True,
            }
        run.broken = False
        got = await nur.data("artifact_get", artifact_id=artifact, include_content=True)
        assert got["content"] == tokens(1300)  # nothing was half done
        assert got["metadata"]["version"] == 1


@pytest.mark.parametrize("tool", ["memory_search", "artifact_search", "hybrid_search"])
async def test_a_search_that_no_ranker_can_answer_is_an_error(open_without_jobs: OpenWithoutJobs, tool: str) -> None:
    run, model = BreakableRunner(), InMemoryEmbedder()
    async with open_without_jobs(run=run, embedder=model) as nur:
        await nur.data("memory_store", **MEMORY)
        run.broken = True
        assert await failure(nur, tool, query="mode") == {
            "code": "storage_failed",
            "message": "Failed to merge search results: The store could not be read or written. See the server's log.",
            "retryable": True,
        }
        model.down = True
        told = await failure(nur, tool, query="mode")
        assert told["code"] == "embedding_failed"
        assert told["message"].startswith("Failed to generate query embedding: ")
        run.broken = False
        assert (await nur.data(tool, query="mode"))["degraded"] == ["dense"]


async def test_embedding_health_without_a_key_is_a_start_that_is_refused(open_door: OpenDoor) -> None:
    with pytest.raises(KeyRefused, match=r"^OPENAI_API_KEY not configured"):
        async with open_door(embeddings="openai"):
            pass


async def test_a_first_start_that_fails_for_want_of_a_key_decides_nothing(
    open_door: OpenDoor, openai_stub: OpenAIStub
) -> None:
    with pytest.raises(KeyRefused):
        async with open_door(embeddings="openai"):
            pass
    openai_stub.fail_forever(faults.status(401))
    with pytest.raises(KeyRefused):
        async with open_door(openai_api_key="sk-wrong", openai_base_url=openai_stub.url):
            pass
    async with open_door() as nur:  # without a key, after all: the local model
        assert (await nur.data("embedding_health"))["provider"] == "local"


async def test_embedding_health_reports_a_provider_that_cannot_be_reached(
    open_without_jobs: OpenWithoutJobs, embedder: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    async with open_without_jobs(embedder=embedder(), openai_api_key="sk-test") as nur:
        well = await nur.data("embedding_health")
        assert well.pop("api_latency_ms") >= 0
        assert well == {
            "provider": "openai",
            "model": "text-embedding-3-large",
            "dimensions": 64,
            "api_key_configured": True,
            "api_status": "healthy",
            "test_embedding_dimensions": 64,
        }
        openai_stub.fail_forever(faults.RESET)
        unwell = await nur.data("embedding_health")  # a report, not a failure
        assert unwell["api_status"] == "unhealthy"
        assert unwell["error"] == "Cannot connect to OpenAI API. Check the network and OPENAI_BASE_URL."
        assert "test_embedding_dimensions" not in unwell


# --- 6.4 Two-phase writes ---


async def test_four_of_six_chunks_embedded_is_none_written(
    open_without_jobs: OpenWithoutJobs, embedder: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    one_by_one = embedder(texts=1, in_flight=1)
    async with open_without_jobs(embedder=one_by_one) as nur:
        openai_stub.fail(*[faults.slow(0)] * 4)
        openai_stub.fail_forever(faults.status(503))
        told = await nur.refusal("artifact_ingest", **DOC, content=tokens(4900))
        assert told == f"{INGEST_FAILED.format(2)}OpenAI service unavailable after 3 attempts."
        openai_stub.heal()
        assert (await nur.data("artifact_search", query="river stone"))["reason"] == "nothing_stored"
        assert await nur.services.index.count() == 0
        made = await nur.data("artifact_ingest", **DOC, content=tokens(4900))
        assert (made["outcome"], made["num_chunks"]) == ("created", 6)
