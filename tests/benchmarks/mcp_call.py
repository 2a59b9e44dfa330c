"""A cheap tool call against the SDK's server with one trivial tool."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mcp import Client

from nur.retrieval.text import tokens
from tests.benchmarks import baselines
from tests.benchmarks.figures import ms
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from tests.benchmarks.figures import Report

ROUNDS, CALLS = 3, 100
ARGUMENTS = {"limit": 1}


def test_mcp_call(report: Report) -> None:
    """`memory_list` of an empty store, in both protocol versions."""
    with tempfile.TemporaryDirectory() as folder, NurProcess(Path(folder) / "data", LOG_LEVEL="WARNING") as server:
        for mode in ("auto", "legacy"):
            floor = baselines.mcp_trivial(ROUNDS, CALLS, mode)
            calls = baselines.mcp_calls(
                f"{server.url}/mcp",
                server.process.pid,
                "memory_list",
                ARGUMENTS,
                rounds=ROUNDS,
                calls=CALLS,
                mode=mode,
            )
            ours = asyncio.run(calls)
            report.add(
                f"memory_list, server CPU, {mode}",
                ms(ours.cpu_seconds),
                beside=ms(floor.cpu_seconds),
                yardstick="mcp_trivial",
            )
            report.add(
                f"memory_list, wall, {mode}",
                ms(ours.wall_seconds),
                beside=ms(floor.wall_seconds),
                yardstick="mcp_trivial",
            )
        report.add("tools/list", asyncio.run(_list_tokens(server)), "tokens", target="≤ 3,000")


async def _list_tokens(server: NurProcess) -> int:
    async with Client(f"{server.url}/mcp") as client:
        return tokens.count((await client.list_tools()).model_dump_json(by_alias=True, exclude_none=True))
