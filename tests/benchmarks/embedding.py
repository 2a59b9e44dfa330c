"""Time of an embedding call, and the gain from batches."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import httpx2

from nur.adapters.local.embedder import LocalEmbedder
from nur.adapters.openai.embedder import OpenAIEmbedder
from nur.domain.embedding import EmbeddingModel
from nur.retrieval.text import tokens
from tests.benchmarks import baselines
from tests.benchmarks.figures import median_ms, ms, percentile
from tests.benchmarks.store import timed
from tests.servers.openai_stub import OpenAIStub

if TYPE_CHECKING:
    from nur.ports.embedder import Embedder
    from tests.benchmarks.figures import Report

MODEL = EmbeddingModel("openai", "text-embedding-3-large", 3072)
TEXTS = 100
BATCH = 10
TARGET = "< 500 ms"


def test_embedding_latency(report: Report) -> None:
    """One text at a time: a provider on loopback against a bare request to it; and the local model."""
    asyncio.run(_latency(report))


def test_batch_embedding_efficiency(report: Report) -> None:
    """Ten texts in one batch against ten calls."""
    asyncio.run(_batches(report))


async def _latency(report: Report) -> None:
    texts = baselines.english_documents(TEXTS, words=80)
    with OpenAIStub() as stub:
        openai = _openai(stub)

        async def bare(text: str) -> None:
            payload = {"input": [text], "model": MODEL.name, "dimensions": 3072, "encoding_format": "base64"}
            answer = await web.post(f"{stub.url}/embeddings", content=json.dumps(payload))
            answer.json()

        async with httpx2.AsyncClient(headers={"Content-Type": "application/json"}) as web:
            _, floor = await timed(bare, texts)
        _, wall = await timed(openai.embed_query, texts)
        await openai.close()
    beside = {"beside": median_ms(floor), "yardstick": "bare request"}
    report.add("provider on loopback, p50 wall", median_ms(wall), target=TARGET, **beside)  # type: ignore[arg-type]
    report.add("provider on loopback, p95 wall", ms(percentile(wall, 0.95)), target=TARGET)
    local = LocalEmbedder()
    cpu, wall = await timed(local.embed_query, texts)
    report.add("local model, p50 wall", median_ms(wall), target=TARGET)
    report.add("local model, p95 wall", ms(percentile(wall, 0.95)), target=TARGET)
    report.add("local model, CPU", median_ms(cpu))
    await local.close()


async def _batches(report: Report) -> None:
    with OpenAIStub() as stub:
        for name, embedder in (("provider on loopback", _openai(stub)), ("local model", LocalEmbedder())):
            await _compare(report, name, embedder)
            await embedder.close()


async def _compare(report: Report, name: str, embedder: Embedder) -> None:
    groups = [baselines.english_documents(BATCH, words=80, seed=seed) for seed in range(20)]

    async def one_by_one(texts: list[str]) -> None:
        for text in texts:
            await embedder.embed([text])

    # Alternating, so that other load affects both.
    batch, sequential = [], []
    for group in groups:
        batch.append(await timed(embedder.embed, [group], warmup=1))
        sequential.append(await timed(one_by_one, [group], warmup=1))
    for clock, unit in ((0, "CPU"), (1, "wall")):
        report.add(
            f"{BATCH} texts, {name}, {unit}",
            median_ms([sample[clock][0] for sample in batch]),
            beside=median_ms([sample[clock][0] for sample in sequential]),
            yardstick="one by one",
            target="< 1×",
        )


def _openai(stub: OpenAIStub) -> OpenAIEmbedder:
    return OpenAIEmbedder(MODEL, api_key="sk-bench", count_tokens=tokens.count, base_url=stub.url)
