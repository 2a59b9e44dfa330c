"""One request cannot hold up the others, whatever it holds."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client

from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = {f"name{i}": i for i in range(500_000)}
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def _tool_call(arguments: dict[str, Any]) -> bytes:
    params = {"name": "memory_store", "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NurProcess]:
    with NurProcess(tmp_path_factory.mktemp("large") / "data") as running:
        yield running


@pytest.mark.parametrize("path", ["/mcp", "/v2/notes"])
async def test_half_a_million_names_are_refused_at_once_and_others_are_answered(server: NurProcess, path: str) -> None:
    body = _tool_call(NAMES) if path == "/mcp" else json.dumps({"text": "x", **NAMES}).encode()
    async with httpx2.AsyncClient(base_url=server.url, timeout=110) as client:
        large = asyncio.create_task(client.post(path, content=body, headers=HEADERS))
        assert (await client.get("/livez")).text == "ok"
        answer = await large
    assert answer.status_code == 413
    assert "more than 100000 values" in answer.text
    assert len(answer.content) < 1000


async def test_a_line_of_an_import_is_counted_before_it_is_parsed(server: NurProcess) -> None:
    lines = [{"type": "header", "format": "nur-export", "format_version": 1}, {"type": "note", **NAMES}]
    body = "\n".join(map(json.dumps, lines)).encode()
    async with httpx2.AsyncClient(base_url=server.url, timeout=110) as client:
        large = asyncio.create_task(client.post("/v2/import", content=body))
        assert (await client.get("/livez")).text == "ok"
        answer = (await large).json()
    assert answer["failures"] == [{"line": 2, "reason": "holds more than 100000 values"}]


async def test_many_unknown_names_are_one_message(server: NurProcess) -> None:
    names = dict(list(NAMES.items())[:90_000])
    async with httpx2.AsyncClient(base_url=server.url, timeout=110) as client:
        note = await client.post("/v2/notes", json={"text": "x", **names})
    assert note.status_code == 422
    assert len(note.json()["errors"]) == 10
    async with Client(f"{server.url}/mcp") as mcp:
        stored = await mcp.call_tool("memory_store", {"content": "x", "type": "fact", "confidence": 1.0, **names})
    assert stored.is_error
    assert str(stored.content[0]).count("Unknown field") == 1


async def test_a_long_text_full_of_commas_and_brackets_is_still_taken(server: NurProcess) -> None:
    text = '"a", [b], {c}\n' * 10_000
    async with httpx2.AsyncClient(base_url=server.url, timeout=110) as client:
        assert (await client.post("/v2/notes", json={"text": text})).status_code == 201


@pytest.mark.parametrize("depth", [1_100, 5_000, 49_000])
async def test_json_in_a_string_that_is_nested_too_deeply_is_refused(server: NurProcess, depth: int) -> None:
    nested = "[" * depth + "]" * depth
    async with Client(f"{server.url}/mcp") as client:
        document = {"artifact_type": "doc", "source_system": "s", "source_id": "1", "content": "x"}
        for tool, arguments in (
            ("artifact_ingest", {**document, "participants": nested}),
            ("hybrid_search", {"query": "x", "filters": '{"a": ' + nested + "}"}),
        ):
            refused = await client.call_tool(tool, arguments)
            assert refused.structured_content is not None
            assert refused.structured_content["code"] == "bad_request", tool


async def test_json_in_a_string_is_bounded(server: NurProcess) -> None:
    async with Client(f"{server.url}/mcp") as client:
        refused = await client.call_tool("hybrid_search", {"query": "x", "filters": "[" + "1," * 60_000 + "1]"})
    assert "exceeds maximum length of 100000 characters" in str(refused.content[0])
