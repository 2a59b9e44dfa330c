"""The overhead of REST and MCP on a search of 10,000 chunks, through a real server."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import psutil
from mcp import Client

from nur import bootstrap
from nur.settings import load
from tests.benchmarks import store
from tests.benchmarks.figures import median_ms
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.benchmarks.figures import Report

CHUNKS = 10_000
QUESTIONS = 50
ROUNDS = 4
#: The defaults of `POST /v2/searches`: ten results of every kind, with surrounding text.
THE_SAME = {"include_memory": True, "include_history": True, "limit": 10, "expand_neighbors": True}


def test_doors(report: Report) -> None:
    """`POST /v2/searches` against the same `hybrid_search`, alternating; a sample is the mean of one round."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        asyncio.run(_fill(data))
        with NurProcess(data, LOG_LEVEL="WARNING") as server:
            asyncio.run(_measure(report, server))


async def _fill(data: Path) -> None:
    async with bootstrap.running(load(nur_data_dir=data)) as services:
        await store.fill(services, store.Sizes(CHUNKS))


async def _measure(report: Report, server: NurProcess) -> None:
    process = psutil.Process(server.process.pid)
    asked = store.questions(QUESTIONS)
    async with httpx2.AsyncClient(base_url=server.url) as rest, Client(f"{server.url}/mcp") as mcp:

        async def over_rest(question: str) -> None:
            (await rest.post("/v2/searches", json={"query": question})).raise_for_status()

        async def over_mcp(question: str) -> None:
            assert not (await mcp.call_tool("hybrid_search", {"query": question, **THE_SAME})).is_error

        for door in (over_rest, over_mcp):  # warm up
            await _round(process, door, asked)
        rounds = []
        for number in range(ROUNDS):
            order = (over_rest, over_mcp) if number % 2 else (over_mcp, over_rest)
            measured = {door: await _round(process, door, asked) for door in order}
            rounds.append((measured[over_rest], measured[over_mcp]))
    for place, unit in enumerate(("server CPU", "wall")):
        report.add(
            f"POST /v2/searches, {unit}",
            median_ms([by_rest[place] for by_rest, _ in rounds]),
            beside=median_ms([by_mcp[place] for _, by_mcp in rounds]),
            yardstick="hybrid_search",
            target="≤ 1.15" if place == 0 else "",
        )


async def _round(
    process: psutil.Process, search: Callable[[str], Awaitable[None]], asked: list[str]
) -> tuple[float, float]:
    """CPU seconds of the server and wall seconds per search."""
    cpu, wall = sum(process.cpu_times()[:2]), time.perf_counter()
    for question in asked:
        await search(question)
    return (sum(process.cpu_times()[:2]) - cpu) / len(asked), (time.perf_counter() - wall) / len(asked)
