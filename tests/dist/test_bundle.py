"""The MCPB bundle and the entry for the MCP registry."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from nur.entrypoints.mcp.server import tools
from tests.dist.conftest import ROOT

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from nur.bootstrap import Services

pytestmark = pytest.mark.timeout(1800)

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def nobody() -> AbstractAsyncContextManager[Services]:
    raise AssertionError("a description needs no services")


@pytest.fixture
def unpacked(bundle: Path, tmp_path: Path) -> Path:
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path / "bundle")
    return tmp_path / "bundle"


@pytest.fixture
def manifest(unpacked: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((unpacked / "manifest.json").read_text(encoding="utf-8"))
    return read


def test_the_manifest_describes_this_version(manifest: dict[str, Any], wheel: Path) -> None:
    assert {"manifest_version", "name", "version", "description", "author", "server"} <= set(manifest)
    assert manifest["version"] == wheel.name.split("-")[1]
    assert [tool["name"] for tool in manifest["tools"]] == [tool.name for tool in tools(nobody)]


def test_the_bundle_has_what_its_manifest_runs(unpacked: Path, manifest: dict[str, Any], wheel: Path) -> None:
    assert (unpacked / manifest["server"]["entry_point"]).is_file()
    project = tomllib.loads((unpacked / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dependencies"] == [f"nur-memory[files]=={manifest['version']}"]
    assert (unpacked / project["tool"]["uv"]["sources"]["nur-memory"]["path"]).read_bytes() == wheel.read_bytes()


def test_the_registry_entry_is_of_this_version_and_runs_stdio(wheel: Path) -> None:
    entry = json.loads((ROOT / "dist/server.json").read_text(encoding="utf-8"))
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert len(entry["description"]) <= 100
    (package,) = entry["packages"]
    assert entry["version"] == package["version"] == wheel.name.split("-")[1]
    assert (package["registryType"], package["identifier"], package["transport"]) == (
        "pypi",
        "nur-memory",
        {"type": "stdio"},
    )
    assert [argument["value"] for argument in package["packageArguments"]] == ["stdio"]


@pytest.mark.skipif(shutil.which("uv") is None or sys.platform == "win32", reason="a client runs bundles with uv")
def test_a_client_that_runs_the_bundle_is_answered(unpacked: Path, manifest: dict[str, Any], tmp_path: Path) -> None:
    config = manifest["server"]["mcp_config"]
    command = [config["command"], *(part.replace("${__dirname}", str(unpacked)) for part in config["args"])]
    data = tmp_path / "data"
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    environment |= {"NUR_DATA_DIR": str(data), "UV_PYTHON": sys.executable}
    asked = json.dumps(INITIALIZE) + "\n"
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(asked)
        process.stdin.flush()
        answered = process.stdout.readline()
        process.stdin.close()
    try:
        assert json.loads(answered)["result"]["serverInfo"]["version"] == manifest["version"]
    finally:
        server = json.loads((data / "server.json").read_text(encoding="utf-8"))
        os.kill(server["pid"], signal.SIGTERM)
