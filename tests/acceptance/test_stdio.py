"""`nur stdio`: the relay, as a client starts it."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.servers.nur_server import NurProcess, clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def relay(folder: Path) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=["-m", "nur", "stdio"], env=clean_environment(folder))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NurProcess]:
    with NurProcess(tmp_path_factory.mktemp("stdio") / "data") as running:
        yield running


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_relay_carries_both_protocol_eras(server: NurProcess, mode: str) -> None:
    async with Client(stdio_client(relay(server.folder)), mode=mode) as client:
        text = f"über die Brücke, {mode} 橋"
        stored = await client.call_tool("memory_store", {"content": text, "type": "fact", "confidence": 1.0})
        assert not stored.is_error
        listed = await client.call_tool("memory_list", {})
        assert listed.structured_content is not None
        assert text in [memory["content"] for memory in listed.structured_content["memories"]]


async def test_progress_comes_through_the_relay(server: NurProcess) -> None:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    content = " ".join(f"Sentence number {i} of a long document." for i in range(2000))
    arguments = {"artifact_type": "doc", "source_system": "s", "source_id": "1", "content": content}
    async with Client(stdio_client(relay(server.folder)), mode="legacy") as client:
        made = await client.call_tool("artifact_ingest", arguments, progress_callback=hear)
        assert made.structured_content is not None
        assert heard[-1] == made.structured_content["num_chunks"]


async def test_the_relay_starts_a_server_where_there_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "alone"
    try:
        async with Client(stdio_client(relay(folder)), mode="legacy") as client:
            assert not (await client.call_tool("memory_list", {})).is_error
        facts = json.loads((folder / "server.json").read_text())
        async with Client(stdio_client(relay(folder)), mode="legacy") as client:  # the next client finds it running
            assert not (await client.call_tool("memory_list", {})).is_error
        assert json.loads((folder / "server.json").read_text())["pid"] == facts["pid"]
    finally:
        _end(int(facts["pid"]))


def _end(pid: int) -> None:
    """End the detached server that this test started, and wait until it is gone."""
    os.kill(pid, signal.SIGTERM)
    for _ in range(300):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("the server did not stop")
