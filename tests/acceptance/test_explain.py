"""nur explain and its route: a real server process, and a store without one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client

from tests.acceptance.test_cli import nur
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NurProcess]:
    with NurProcess(tmp_path_factory.mktemp("explain") / "data") as running:
        yield running


async def searched(server: NurProcess) -> dict[str, Any]:
    async with Client(f"{server.url}/mcp") as client:
        for text in ("Tea is drunk at four", "Tea is grown in Assam"):
            await client.call_tool("memory_store", {"content": text, "type": "fact", "confidence": 1.0})
        found = await client.call_tool(
            "memory_search", {"query": "when is tea drunk?", "limit": 1, "response_format": "detailed"}
        )
    structured: dict[str, Any] = found.structured_content or {}
    return structured


async def test_the_route_tells_what_became_of_every_candidate(server: NurProcess) -> None:
    found = await searched(server)
    told = httpx2.get(f"{server.url}/v2/searches/{found['search_id']}/explain").json()
    assert told["query"] == "when is tea drunk?"
    assert [one["outcome"] for one in told["candidates"]] == ["returned", "beyond_limit"]
    assert told["items"][0]["item_id"] == found["hits"][0]["item_id"]
    assert "Tea is drunk at four" not in json.dumps(told)  # ids and numbers, no texts


@pytest.mark.parametrize(
    ("search_id", "status", "code"),
    [
        ("no-uuid", 422, "invalid"),
        ("00000000-0000-0000-0000-000000000000", 404, "not_found"),
    ],
)
def test_an_unknown_search_is_said_to_be_unknown(server: NurProcess, search_id: str, status: int, code: str) -> None:
    answer = httpx2.get(f"{server.url}/v2/searches/{search_id}/explain")
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_the_route_is_guarded_like_the_others(server: NurProcess) -> None:
    path = f"{server.url}/v2/searches/00000000-0000-0000-0000-000000000000/explain"
    assert httpx2.get(path, headers={"Host": "evil.example"}).status_code == 421


async def test_the_command_asks_the_running_server(server: NurProcess) -> None:
    found = await searched(server)
    page = nur(server.folder, "explain", found["search_id"], COLUMNS="200")
    assert page.returncode == 0, page.stderr
    assert "Question: when is tea drunk?" in page.stdout
    assert found["hits"][0]["id"] in page.stdout
    assert "beyond the limit" in page.stdout
    note = nur(server.folder, "explain", found["search_id"], found["hits"][0]["id"], COLUMNS="200")
    assert "Returned at place 1: score" in note.stdout


def test_the_command_reads_the_store_when_no_server_runs(tmp_path: Path) -> None:
    page = nur(tmp_path / "data", "explain", "00000000-0000-0000-0000-000000000000")
    assert page.returncode == 5
    assert page.stderr.startswith("nur: Search 00000000-0000-0000-0000-000000000000 not found")
