"""Ingest of a 10 MB document, from the client's call to the response."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import psutil
from mcp import Client

from nur.retrieval.chunking import ChunkingPolicy, chunk
from nur.retrieval.text.tokens import vocabulary
from tests.benchmarks import baselines
from tests.benchmarks.figures import ms, percentile
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from tests.benchmarks.figures import Report

CHARACTERS = int(os.environ.get("BENCH_CHARACTERS", "10000000"))
ROUNDS = 3
POLL_SECONDS = 0.05
POLICY = ChunkingPolicy("window", whole_max=1200, target=900, overlap=100)


def test_large_artifact_ingestion(report: Report) -> None:
    """Chunking against one tokenisation of the same text; then the whole ingest through a real server."""
    text = baselines.english_text(CHARACTERS)
    _chunking(report, text)
    with tempfile.TemporaryDirectory() as folder, NurProcess(Path(folder) / "data", LOG_LEVEL="WARNING") as server:
        asyncio.run(_ingest(report, server, text))


def _chunking(report: Report, text: str) -> None:
    """Alternating, so that other load affects both."""
    encoding = vocabulary().encoding
    ours, floors = [], []
    for _ in range(ROUNDS):
        floors += baselines.repeat(lambda: encoding.encode_ordinary(text), 1, warmup=0)[0]
        ours += baselines.repeat(lambda: chunk(text, POLICY), 1, warmup=0)[0]
    report.add(
        "chunking, CPU",
        statistics.median(ours),
        "s",
        beside=statistics.median(floors),
        yardstick="encode_ordinary",
        target="≤ 1.3×",
    )


async def _ingest(report: Report, server: NurProcess, text: str) -> None:
    process = psutil.Process(server.process.pid)
    latencies: list[float] = []
    over = asyncio.Event()

    async def poll() -> None:
        async with httpx2.AsyncClient(timeout=60) as web:
            while not over.is_set():
                started = time.perf_counter()
                answer = await web.get(f"{server.url}/health")
                latencies.append(time.perf_counter() - started)
                if answer.status_code != httpx2.codes.OK:
                    raise RuntimeError(f"/health answered {answer.status_code}")
                await asyncio.sleep(POLL_SECONDS)

    async with Client(f"{server.url}/mcp", read_timeout_seconds=600) as client:
        await client.call_tool("memory_store", {"content": "warm", "type": "fact", "confidence": 1.0})
        before = process.memory_info().rss
        polling = asyncio.create_task(poll())
        cpu_started, started = sum(process.cpu_times()[:2]), time.perf_counter()
        arguments = {"artifact_type": "doc", "source_system": "bench", "source_id": "1", "content": text}
        answer = await client.call_tool("artifact_ingest", arguments)
        wall = time.perf_counter() - started
        cpu = sum(process.cpu_times()[:2]) - cpu_started
        over.set()
        await polling
    if answer.is_error or answer.structured_content is None:
        raise RuntimeError(str(answer.content))
    report.add("ingest end to end, wall", wall, "s")
    report.add("ingest end to end, server CPU", cpu, "s")
    report.add("chunks", answer.structured_content["num_chunks"], "")
    report.add(f"/health meanwhile, worst of {len(latencies)}", ms(max(latencies)), target="answered throughout")
    report.add("/health meanwhile, p50", ms(percentile(latencies, 0.5)))
    report.add("server's memory before", before / 2**20, "MiB")
    report.add("server's memory, peak", _peak_mib(process), "MiB", target="< 500 MB")


def _peak_mib(process: psutil.Process) -> float:
    """Peak resident memory."""
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():  # not Linux
        return float(process.memory_info().rss) / 2**20
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
