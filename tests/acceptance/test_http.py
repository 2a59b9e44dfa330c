"""The HTTP door: a real server process, real requests."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import stat
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client

from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NurProcess]:
    with NurProcess(tmp_path_factory.mktemp("http") / "data") as running:
        yield running


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_both_paths_answer_both_protocol_eras(server: NurProcess, path: str, mode: str) -> None:
    async with Client(server.url + path, mode=mode) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names[:3] == ["memory_context", "search_everything", "memory_store"]
        result = await client.call_tool(
            "memory_store", {"content": f"{path} {mode}", "type": "fact", "confidence": 1.0}
        )
        assert not result.is_error


def test_health_has_the_shape_of_the_specification(server: NurProcess) -> None:
    answer = httpx2.get(f"{server.url}/health")
    body = answer.json()
    assert answer.status_code == 200
    assert body["status"] == "healthy"
    assert body["service"] == "mcp-memory"
    assert set(body["checks"]) == {"store", "index", "embedder"}
    assert body["checks"]["embedder"]["dimensions"] == 256
    assert body["timestamp"].endswith("Z")


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_probes_answer_ok(server: NurProcess, path: str) -> None:
    assert httpx2.get(server.url + path).text == "ok"


@pytest.mark.parametrize("path", ["/mcp", "/health", "/metrics", "/livez"])
def test_an_unknown_host_is_turned_away_on_every_route(server: NurProcess, path: str) -> None:
    assert httpx2.get(server.url + path, headers={"Host": "evil.example:3000"}).status_code == 421


def test_a_caller_who_is_turned_away_gets_a_problem(server: NurProcess) -> None:
    refused = httpx2.get(f"{server.url}/v2/notes", headers={"Host": "evil.example:3000"})
    assert refused.headers["content-type"] == "application/problem+json"
    problem = refused.json()
    assert (problem["status"], problem["code"], problem["retryable"]) == (421, "refused", False)
    assert (
        problem["detail"] == problem["message"] == "Unknown Host. Add the name that clients use to NUR_ALLOWED_HOSTS."
    )


@pytest.mark.parametrize("path", ["/mcp", "/health", "/metrics", "/livez"])
def test_a_foreign_web_origin_is_turned_away_on_every_route(server: NurProcess, path: str) -> None:
    assert httpx2.get(server.url + path, headers={"Origin": "https://evil.example"}).status_code == 403


@pytest.mark.parametrize("path", ["/mcp", "/health", "/metrics", "/livez", "/v2/notes"])
@pytest.mark.parametrize("origin", ["http://[", "http://localhost:80@evil.example", "null", "http://localhost, x"])
def test_a_malformed_web_origin_is_turned_away_on_every_route(server: NurProcess, path: str, origin: str) -> None:
    assert httpx2.get(server.url + path, headers={"Origin": origin}).status_code == 403


@pytest.mark.parametrize("host", ["localhost:1@evil.example", "127.0.0.1:1, evil.example", "[::1", "localhost:x", ""])
def test_a_host_that_only_looks_local_is_turned_away(server: NurProcess, host: str) -> None:
    assert httpx2.get(f"{server.url}/livez", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["LOCALHOST", "LocalHost:3000", "[::1]:3000"])
def test_host_names_are_known_in_whatever_case(server: NurProcess, host: str) -> None:
    assert httpx2.get(f"{server.url}/livez", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("path", ["/v2/admin/embedding/purge", "/v2/admin/outbox/retry", "/v2/admin/index/rebuild"])
def test_a_page_of_another_port_changes_nothing_unless_its_browser_asks_first(server: NurProcess, path: str) -> None:
    page = {"Origin": "http://localhost:8080"}
    assert httpx2.post(server.url + path, headers=page | {"Content-Type": "text/plain"}).status_code == 403
    assert httpx2.post(server.url + path, headers=page).status_code == 403
    assert httpx2.post(server.url + path, headers={"Origin": server.url}).is_success
    assert httpx2.post(server.url + path, headers=page | {"Content-Type": "application/json"}).is_success


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_no_changes_of_lists_that_never_change_are_announced(server: NurProcess, mode: str) -> None:
    async with Client(f"{server.url}/mcp", mode=mode) as client:
        offered = client.server_capabilities
        assert offered.tools is not None
        assert offered.prompts is not None
        assert offered.resources is not None
        changing = (offered.tools.list_changed, offered.prompts.list_changed, offered.resources.list_changed)
        assert not any((*changing, offered.resources.subscribe))
        assert {prompt.name for prompt in (await client.list_prompts()).prompts} == {
            "start_session",
            "what_changed",
            "recall",
        }


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("PUT", "/v2/notes", "GET, POST"), ("POST", "/v2/notes/note_1", "DELETE, GET, PATCH"), ("GET", "/mcp", "POST")],
)
def test_a_wrong_method_is_told_all_the_right_ones(server: NurProcess, method: str, path: str, allowed: str) -> None:
    answer = httpx2.request(method, server.url + path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


def test_a_local_web_page_may_call(server: NurProcess) -> None:
    assert httpx2.get(f"{server.url}/health", headers={"Origin": "http://localhost:5173"}).status_code == 200


def test_an_unknown_path_is_not_found(server: NurProcess) -> None:
    assert httpx2.get(f"{server.url}/nothing").status_code == 404


def test_the_data_folder_is_the_owners_alone(server: NurProcess) -> None:
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700
    for name in ("nur.db", "server.json"):
        assert stat.S_IMODE((server.folder / name).stat().st_mode) == 0o600


async def test_every_log_line_of_a_call_has_one_trace_id_and_no_contents(tmp_path: Path) -> None:
    with NurProcess(tmp_path / "logged", LOG_LEVEL="DEBUG") as server:
        async with Client(f"{server.url}/mcp") as client:
            stored = await _lines_of(
                server, client, "memory_store", content="canary-7319 sings", type="fact", confidence=1.0
            )
            searched = await _lines_of(server, client, "memory_search", query="canary-7319 query")
        assert {"embedding_generated"} <= {line["event"] for line in stored}
        assert {"search_started", "search_completed"} <= {line["event"] for line in searched}
        (first,), (second,) = ({line.get("trace_id") for line in lines} for lines in (stored, searched))
        assert None not in (first, second)
        assert first != second
        for line in (*stored, *searched):
            assert {"timestamp", "level", "service", "component", "event"} <= set(line)
        assert "canary-7319" not in server.log.read_text()


async def _lines_of(server: NurProcess, client: Client, tool: str, **arguments: Any) -> list[dict[str, Any]]:
    """Every line that was logged while this call was answered; nobody else calls."""
    before = server.log.stat().st_size
    assert not (await client.call_tool(tool, arguments)).is_error
    lines = server.log.read_bytes()[before:].decode().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def test_a_token_guards_everything_but_the_probes(tmp_path: Path) -> None:
    with NurProcess(tmp_path / "guarded", NUR_TOKEN="s3cret") as guarded:
        assert httpx2.post(f"{guarded.url}/mcp", json={}).status_code == 401
        assert httpx2.get(f"{guarded.url}/metrics").status_code == 401
        assert httpx2.get(f"{guarded.url}/livez").status_code == 200
        wrong = httpx2.get(f"{guarded.url}/metrics", headers={"Authorization": "Bearer wrong"})
        assert wrong.status_code == 401
        right = httpx2.get(f"{guarded.url}/metrics", headers={"Authorization": "Bearer s3cret"})
        assert right.status_code == 200
        assert "s3cret" not in guarded.log.read_text()
        assert guarded.stop() == 0


async def test_an_acknowledged_memory_survives_kill_9(tmp_path: Path) -> None:
    server = NurProcess(tmp_path / "killed")
    server.start()
    async with Client(f"{server.url}/mcp") as client:
        arguments = {"content": "the lamp burns at night", "type": "fact", "confidence": 1.0}
        await client.call_tool("memory_store", arguments)
    server.kill()
    with server:
        async with Client(f"{server.url}/mcp") as client:
            found = await client.call_tool("memory_search", {"query": "lamp at night"})
            assert "the lamp burns at night" in str(found.content[0])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can lower the limit of a running process")
def test_running_out_of_descriptors_does_not_flood_the_log(tmp_path: Path) -> None:
    with NurProcess(tmp_path / "crowded") as server:
        port = int(server.url.rsplit(":", 1)[1])
        open_files = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (open_files + 3, open_files + 3))
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
        _until(lambda: "out_of_descriptors" in server.log.read_text())
        for connection in silent:
            connection.close()
        _until(lambda: _answers(server.url))
        assert len(server.log.read_text().splitlines()) < 20


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _answers(url: str) -> bool:
    with contextlib.suppress(httpx2.HTTPError):
        return httpx2.get(f"{url}/livez", timeout=5).text == "ok"
    return False
