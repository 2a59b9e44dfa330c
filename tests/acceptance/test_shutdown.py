"""SIGTERM: every call in flight is answered, then the server exits."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.servers import faults
from tests.servers.nur_server import NurProcess, clean_environment

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_types import CallToolResult

    from tests.servers.openai_stub import OpenAIStub

ESTABLISHED = "01"  #: in /proc/net/tcp
LIMIT_SECONDS = 60.0  #: for conditions that a loaded machine reaches late; no test waits that long to pass
ARTIFACT = {"artifact_type": "doc", "source_system": "drive", "source_id": "1", "content": "the ferry leaves at nine"}
TOOL_CALLS: dict[str, dict[str, Any]] = {
    "memory_store": {"content": "the lamp burns at night", "type": "fact", "confidence": 1.0},
    "artifact_ingest": ARTIFACT,
    "hybrid_search": {"query": "when does the ferry leave?"},
}
SEARCH = {"query": "which bread?"}
NOTE = {"text": "the keeper likes rye bread"}


async def _until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, what
        await asyncio.sleep(0.02)


def _settings(stub: OpenAIStub) -> dict[str, str]:
    return {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": stub.url, "OPENAI_EMBED_DIMS": "64"}


def _refuses_connections(url: str) -> bool:
    try:
        httpx2.get(f"{url}/livez")
    except httpx2.ConnectError:
        return True
    except (httpx2.ReadError, httpx2.RemoteProtocolError):  # waited to be accepted when the server stopped listening
        return False
    return False


def _unread_requests(url: str) -> int:
    """How many connections to this port have bytes that their server has not read."""
    port = f":{httpx2.URL(url).port:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(port) and row[3] == ESTABLISHED and not row[4].endswith(":00000000") for row in rows)


def _has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


class Calls:
    """One call of each kind, in flight at a server whose provider keeps them waiting."""

    def __init__(self, server: NurProcess, stub: OpenAIStub, mode: str) -> None:
        self._url = server.url
        self._stub = stub
        self._mode = mode
        self._rest = httpx2.AsyncClient(base_url=self._url, timeout=LIMIT_SECONDS)

    async def __aenter__(self) -> Self:
        self.tools = {name: asyncio.create_task(self._tool(name)) for name in TOOL_CALLS}
        self.rest = {"search": asyncio.create_task(self._rest.post("/v2/searches", json=SEARCH))}
        await _until(lambda: self._stub.in_flight == 4, "four calls wait for the provider")
        note = self._rest.post("/v2/notes", params={"wait": "indexed", "wait_seconds": 30}, json=NOTE)
        self.rest["note"] = asyncio.create_task(note)
        await _until(lambda: NOTE["text"] in httpx2.get(f"{self._url}/v2/notes").text, "the note waits for the worker")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._rest.aclose()

    async def _tool(self, name: str) -> CallToolResult:
        async with Client(f"{self._url}/mcp", mode=self._mode) as client:
            await client.list_tools()  # else the client asks for it when it has its answer, and the server is gone
            return await client.call_tool(name, TOOL_CALLS[name])

    async def end(self) -> None:
        """Wait until every call has come to an end, good or bad."""
        calls = (*self.tools.values(), *self.rest.values())
        await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), LIMIT_SECONDS)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_sigterm_answers_every_call_in_flight_and_keeps_their_writes(
    tmp_path: Path, openai_stub: OpenAIStub, mode: str
) -> None:
    server = NurProcess(tmp_path / "drained", **_settings(openai_stub))
    with server:
        url = server.url
        openai_stub.fail_forever(faults.HELD)
        async with Calls(server, openai_stub, mode) as calls:
            server.process.send_signal(signal.SIGTERM)
            await _until(lambda: _refuses_connections(url), "the server takes no more calls")
            openai_stub.release()
            await calls.end()
        for name, answer in calls.tools.items():
            assert not answer.result().is_error, name
        for name, response in calls.rest.items():
            assert response.result().is_success, name
        assert await asyncio.to_thread(server.process.wait, LIMIT_SECONDS) == 0
    with server:
        async with Client(f"{server.url}/mcp") as client:
            memory = await client.call_tool("memory_search", {"query": "what burns at night?"})
            artifact = await client.call_tool("artifact_search", {"query": "when does the ferry leave?"})
        notes = httpx2.get(f"{server.url}/v2/notes").text
    assert "the lamp burns at night" in str(memory.content)
    assert "the ferry leaves at nine" in str(artifact.content)
    assert NOTE["text"] in notes


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_call_that_outlasts_the_drain_is_told_so_and_the_server_exits(
    tmp_path: Path, openai_stub: OpenAIStub, mode: str
) -> None:
    with NurProcess(tmp_path / "late", **_settings(openai_stub)) as server:
        openai_stub.fail_forever(faults.HANG)
        async with Calls(server, openai_stub, mode) as calls:
            server.process.send_signal(signal.SIGTERM)
            await calls.end()
        for name in ("memory_store", "artifact_ingest"):
            failure = calls.tools[name].result().structured_content
            assert failure is not None, name
            assert (failure["code"], failure["retryable"]) == ("unavailable", True), name
            assert "server is stopping" in failure["message"], name
        assert calls.rest["note"].result().status_code == 503
        assert calls.rest["note"].result().json()["code"] == "unavailable"
        calls.tools["hybrid_search"].result()  # by its words alone, or told as the others: but answered
        calls.rest["search"].result()
        assert await asyncio.to_thread(server.process.wait, LIMIT_SECONDS) == 0


async def test_calls_that_were_sent_before_the_signal_but_not_read_yet_are_answered(tmp_path: Path) -> None:
    server = NurProcess(tmp_path / "busy")
    with server:
        httpx2.get(f"{server.url}/v2/notes", timeout=LIMIT_SECONDS)  # REST is imported
        async with httpx2.AsyncClient(base_url=server.url, timeout=LIMIT_SECONDS) as client:
            server.process.send_signal(signal.SIGSTOP)  # as a machine does that is too busy to run it
            calls = [asyncio.create_task(client.post("/v2/notes", json={"text": f"note {i}"})) for i in range(20)]
            await _until(lambda: _unread_requests(server.url) == len(calls), "the requests wait in their sockets")
            server.process.send_signal(signal.SIGTERM)
            server.process.send_signal(signal.SIGCONT)
            answers = await asyncio.gather(*calls)
        assert [answer.status_code for answer in answers] == [201] * len(calls)
        assert await asyncio.to_thread(server.process.wait, LIMIT_SECONDS) == 0


async def test_a_server_that_the_relay_started_answers_its_calls_too(tmp_path: Path, openai_stub: OpenAIStub) -> None:
    folder = tmp_path / "relayed"
    environment = clean_environment(folder, **_settings(openai_stub))
    relay = StdioServerParameters(command=sys.executable, args=["-m", "nur", "stdio"], env=environment)
    async with Client(stdio_client(relay), mode="legacy") as client:
        facts = json.loads((folder / "server.json").read_text())
        openai_stub.fail_forever(faults.HELD)
        stored = asyncio.create_task(client.call_tool("memory_store", TOOL_CALLS["memory_store"]))
        await _until(lambda: openai_stub.in_flight >= 1, "the call waits for the provider")
        os.kill(facts["pid"], signal.SIGTERM)
        await _until(lambda: _refuses_connections(facts["url"]), "the server takes no more calls")
        later = asyncio.create_task(client.call_tool("memory_list", {}))  # the relay starts the next server
        openai_stub.release()
        assert not (await stored).is_error
        assert "the lamp burns at night" in str((await later).content)
        next_server = json.loads((folder / "server.json").read_text())["pid"]
        assert next_server != facts["pid"]
    os.kill(next_server, signal.SIGTERM)
    await _until(lambda: _has_ended(next_server), "the next server has exited")


async def test_no_stream_without_a_call_can_delay_the_exit(tmp_path: Path) -> None:
    with NurProcess(tmp_path / "stream") as server:
        answer = httpx2.get(f"{server.url}/mcp", headers={"Accept": "text/event-stream"})
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
