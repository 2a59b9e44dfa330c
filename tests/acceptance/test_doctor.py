"""nur doctor, as a process, against real servers well and unwell."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client

from nur.adapters.sql.sqlite.stores import SqliteStores
from nur.ports.clock import SystemClock
from tests.servers import faults
from tests.servers.nur_server import NurProcess, clean_environment
from tests.store_notes import a_note, creation, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers.openai_stub import OpenAIStub

SMOKE = ["health", "outbox", "MCP", "embedding health", "memory", "small artifact", "large artifact", "hybrid search"]


def doctor(folder: Path, *arguments: str, **settings: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the checks by name."""
    left = subprocess.run(
        [sys.executable, "-m", "nur", "doctor", "--json", *arguments],
        env=clean_environment(folder, **settings),
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert left.stdout, left.stderr
    report = json.loads(left.stdout)
    assert report["ok"] is (left.returncode == 0)
    return left.returncode, {check["check"]: check for check in report["checks"]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NurProcess]:
    with NurProcess(tmp_path_factory.mktemp("doctor") / "data", NUR_TOKEN="s3cret") as running:
        yield running


async def test_a_well_server_passes_every_check_and_keeps_nothing(openai_stub: OpenAIStub, tmp_path: Path) -> None:
    openai = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": openai_stub.url, "OPENAI_EMBED_DIMS": "64"}
    with NurProcess(tmp_path / "well", OPENAI_MAX_RETRIES="0", **openai) as running:
        code, checks = doctor(running.folder)
        assert code == 0
        assert [name for name in checks if name in SMOKE] == SMOKE
        assert {check["result"] for check in checks.values()} == {"ok"}
        assert checks["embedding health"]["detail"] == "openai:text-embedding-3-large:64"
        assert checks["clean up"]["detail"] == "3 test notes erased"
        assert httpx2.get(f"{running.url}/v2/admin/trash").json()["notes"] == []
        async with Client(f"{running.url}/mcp") as client:
            listed = await client.call_tool("memory_list", {})
            assert listed.structured_content is not None
            assert listed.structured_content["memories"] == []
            found = await client.call_tool("hybrid_search", {"query": "lamp in the lighthouse", "include_memory": True})
            assert found.structured_content is not None
            assert found.structured_content["hits"] == []

        openai_stub.fail_forever(faults.status(503))
        code, checks = doctor(running.folder)
        assert code == 1
        failed = {name for name, check in checks.items() if check["result"] == "failed"}
        assert {"embedding health", "memory"} <= failed
        assert checks["clean up"]["detail"] == "0 test notes erased"


async def test_what_was_given_up_is_named_with_its_error(tmp_path: Path) -> None:
    folder = tmp_path / "given-up"
    stores = SqliteStores(folder)
    await stores.open(SystemClock().now())
    await stores.facts.set_if_absent("embedding_version", "local:wordllama-l2-supercat-2:256")
    given = creation(a_note(), embedded=False)
    not_analysed = [replace(chunk, pieces=b"", atoms=b"") for chunk in given.chunks]
    note = await write(stores, replace(given, chunks=not_analysed))
    (job,) = await stores.outbox.lease("worker", 9, SystemClock().now(), 60)
    await stores.outbox.postpone(job, "the provider refuses this text", None)
    await stores.close()
    with NurProcess(folder) as running:
        code, checks = doctor(folder)
        assert code == 1
        assert checks["outbox"]["result"] == "failed"
        assert f"{note.public_id}: the provider refuses this text" in checks["outbox"]["detail"]
        assert checks["outbox"]["hint"].endswith(f"curl -X POST {running.url}/v2/admin/outbox/retry")
        async with httpx2.AsyncClient(base_url=running.url) as client:
            assert "indexing_outbox_dead 1.0" in (await client.get("/metrics")).text
            store = (await client.get("/health")).json()["checks"]["store"]
            assert (store["dead_letters"], store["last_error"]) == (1, "the provider refuses this text")
            assert (await client.post("/v2/admin/outbox/retry")).json() == {"retried": 1}
        code, checks = doctor(folder)
        assert (code, checks["outbox"]["result"]) == (0, "ok")


def test_the_servers_file_says_where_it_is_and_its_token(server: NurProcess) -> None:
    code, checks = doctor(server.folder)
    assert code == 0
    assert checks["MCP"]["detail"].startswith(server.url)


@pytest.mark.parametrize("path", ["", "/mcp", "/mcp/"])
def test_a_server_can_be_named(server: NurProcess, tmp_path: Path, path: str) -> None:
    code, checks = doctor(tmp_path / "elsewhere", "--url", server.url + path, "--token", "s3cret")
    assert code == 0
    assert set(SMOKE) <= set(checks)


def test_a_wrong_token_fails_with_a_hint(server: NurProcess, tmp_path: Path) -> None:
    code, checks = doctor(tmp_path / "elsewhere", "--url", server.url, "--token", "wrong")
    assert code == 1
    assert checks["MCP"]["result"] == "failed"
    assert "--token" in checks["MCP"]["hint"]


def test_a_key_that_a_local_store_does_not_use_is_a_hint_only(server: NurProcess) -> None:
    code, checks = doctor(server.folder, OPENAI_API_KEY="sk-new")
    assert code == 0
    assert checks["OPENAI_API_KEY"]["result"] == "note"
    assert "nur reembed --to openai:text-embedding-3-large:3072" in checks["OPENAI_API_KEY"]["hint"]


def test_nobody_there_fails_and_skips_the_rest(tmp_path: Path) -> None:
    code, checks = doctor(tmp_path / "elsewhere", "--url", "http://127.0.0.1:9")
    assert code == 1
    assert checks["health"]["result"] == "failed"
    assert checks["hybrid search"]["result"] == "skipped"


def test_without_a_server_it_looks_at_the_machine_and_opens_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "not-there"
    code, checks = doctor(folder)
    assert code == 1
    assert "nur serve" in checks["server"]["hint"]
    assert {"settings", "python", "sqlite", "packages", "chroma extra", "data folder"} <= set(checks)
    assert "FTS5" in checks["sqlite"]["detail"]
    assert checks["store's model"]["detail"] == "no store yet"
    assert not folder.exists()


def test_a_stopped_servers_store_is_read_without_touching_it(tmp_path: Path) -> None:
    folder = tmp_path / "stopped"
    with NurProcess(folder):
        pass
    before = sorted(path.name for path in folder.iterdir())
    code, checks = doctor(folder, OPENAI_API_KEY="sk-new")
    assert code == 1
    assert checks["store's model"]["detail"] == "local:wordllama-l2-supercat-2:256"
    assert checks["OPENAI_API_KEY"]["result"] == "note"
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_bad_setting_is_a_finding(tmp_path: Path) -> None:
    code, checks = doctor(tmp_path, MCP_PORT="99999")
    assert code == 1
    assert checks["settings"]["result"] == "failed"
    assert "MCP_PORT" in checks["settings"]["detail"]


def test_a_folder_that_others_may_look_into_is_a_finding(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    code, checks = doctor(folder)
    assert code == 1
    assert checks["data folder"]["hint"] == f"chmod 700 {folder}"


def test_the_table_shows_result_time_and_hint(tmp_path: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "nur", "doctor"],
        env=clean_environment(tmp_path / "none", COLUMNS="200"),
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert shown.returncode == 1
    assert "result" in shown.stdout
    assert "→ Start one: nur serve" in shown.stdout
