"""What /metrics counts: a real server with a provider and a Chroma server, before and after each call."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx2
import pytest
from mcp import Client
from prometheus_client.parser import text_string_to_metric_families

from tests.servers import faults
from tests.servers.chroma_server import ChromaProcess
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from tests.servers.openai_stub import OpenAIStub

LONG = " ".join(f"Chapter {i} tells of the lighthouse keeper number {i} and his lamp." for i in range(300))
NAMES = {
    "embeddings": "counter",
    "embeddings_failed": "counter",
    "embedding_latency_seconds": "histogram",
    "embedding_tokens": "counter",
    "embedding_batch_size": "histogram",
    "artifacts_ingested": "counter",
    "artifacts_chunked": "counter",
    "artifact_chunks": "counter",
    "ingestion_latency_seconds": "histogram",
    "searches": "counter",
    "search_latency_seconds": "histogram",
    "search_results_count": "histogram",
    "rrf_merges": "counter",
    "chroma_operations": "counter",
    "chroma_errors": "counter",
}


class Watched:
    """A server, and what its metrics changed by since they were last looked at."""

    def __init__(self, server: NurProcess) -> None:
        self.url = server.url
        self._before: dict[str, float] = {}

    def kinds(self) -> dict[str, str]:
        text = httpx2.get(f"{self.url}/metrics").text
        return {family.name: family.type for family in text_string_to_metric_families(text)}

    async def call(self, tool: str, **arguments: Any) -> tuple[dict[str, Any], dict[str, float]]:
        """The structured content of an answer, and every sample that the call changed, by how much."""
        self.changed()
        async with Client(f"{self.url}/mcp") as client:
            answer = await client.call_tool(tool, arguments)
        return answer.structured_content or {}, self.changed()

    def changed(self) -> dict[str, float]:
        now = self._samples()
        before, self._before = self._before, now
        return {name: value - before.get(name, 0) for name, value in now.items() if value != before.get(name, 0)}

    def _samples(self) -> dict[str, float]:
        """By name and labels as Prometheus writes them; buckets and times of creation left out."""
        samples = {}
        for family in text_string_to_metric_families(httpx2.get(f"{self.url}/metrics").text):
            for sample in family.samples:
                if not sample.name.endswith(("_bucket", "_created")):
                    labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
                    samples[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
        return samples


@pytest.fixture
def chroma(tmp_path: Path) -> Iterator[ChromaProcess]:
    with ChromaProcess(tmp_path / "chroma") as server:
        yield server


@pytest.fixture
def watched(openai_stub: OpenAIStub, chroma: ChromaProcess, tmp_path: Path) -> Iterator[Watched]:
    settings = {
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_BASE_URL": openai_stub.url,
        "OPENAI_EMBED_DIMS": "64",
        "OPENAI_MAX_RETRIES": "0",
        "FUSION": "rrf",
        "CHROMA_HOST": "127.0.0.1",
        "CHROMA_PORT": str(chroma.port),
    }
    with NurProcess(tmp_path / "metrics", **settings) as server:
        yield Watched(server)


def subset(changed: dict[str, float], *starts: str) -> dict[str, float]:
    return {name: value for name, value in changed.items() if name.startswith(starts) and "_seconds_sum" not in name}


def test_metrics_are_exposed_under_the_names_of_the_specification(watched: Watched) -> None:
    kinds = watched.kinds()
    assert {name: kinds.get(name) for name in NAMES} == NAMES


async def test_every_call_moves_the_metrics_of_what_it_did(
    watched: Watched, openai_stub: OpenAIStub, chroma: ChromaProcess
) -> None:
    model = "model=text-embedding-3-large"
    memory = {"content": "User prefers dark mode", "type": "fact", "confidence": 1.0}
    _, changed = await watched.call("memory_store", **memory)
    assert subset(changed, "embedding") == {
        f"embeddings_total{{dimensions=64,{model}}}": 1,
        f"embedding_tokens_total{{{model}}}": 4,
        "embedding_latency_seconds_count": 1,
        "embedding_batch_size_count": 1,
        "embedding_batch_size_sum": 1,
    }

    document = {"artifact_type": "doc", "source_system": "d", "source_id": "1"}
    made, changed = await watched.call("artifact_ingest", **document, content=LONG)
    assert made["num_chunks"] > 1
    assert subset(changed, "artifact", "ingestion") == {
        "artifacts_ingested_total{outcome=created}": 1,
        "artifacts_chunked_total": 1,
        "artifact_chunks_total": made["num_chunks"],
        "ingestion_latency_seconds_count": 1,
    }
    assert changed["embedding_batch_size_sum"] == made["num_chunks"]
    _, changed = await watched.call("artifact_ingest", **document, content=LONG)
    assert subset(changed, "artifact") == {"artifacts_ingested_total{outcome=unchanged}": 1}

    await _until_applied(watched)
    found, changed = await watched.call("hybrid_search", query="lighthouse keeper", include_memory=True)
    assert changed["chroma_operations_total{operation=query}"] >= 1
    assert subset(changed, "search", "rrf") == {
        "searches_total{tool=hybrid_search}": 1,
        "search_latency_seconds_count{tool=hybrid_search}": 1,
        "search_results_count_count": 1,
        "search_results_count_sum": len(found["hits"]),
        "rrf_merges_total": 1,
    }

    chroma.kill()
    found, changed = await watched.call("memory_search", query="which mode?")
    assert found["degraded"] == ["dense"]
    assert sum(subset(changed, "chroma_errors_total").values()) >= 1

    openai_stub.fail_forever(faults.status(503))
    _, changed = await watched.call("memory_store", content="lost", type="fact", confidence=1.0)
    assert sum(subset(changed, "embeddings_failed_total").values()) == 1


async def _until_applied(watched: Watched) -> None:
    """Wait until the worker has told Chroma of the writes."""
    async with asyncio.timeout(60):
        while not watched._samples().get("chroma_operations_total{operation=add}"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
