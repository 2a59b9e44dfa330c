"""A full disk: searches go on, everybody is told, and it recovers by itself."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client

from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = "The lamp is in the hall. " * 400


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("a small file system can be mounted by root on Linux alone")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place], check=False)
    if mounted.returncode:
        pytest.skip("this container does not let root mount a file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


class LoggedServer(NurProcess):
    """Known by its log, which is on another disk: on a full one it cannot leave its address."""

    def __init__(self, disk: Path) -> None:
        super().__init__(disk / "data")
        self.log = disk.with_suffix(".log")

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == name]

    def _facts(self) -> dict[str, object]:
        started = [line for line in self.events("server_started") if line["pid"] == self.process.pid]
        return started[-1] if started else {}


def fill(disk: Path) -> Path:
    """Fill the disk; returns the file that does."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    assert not shutil.disk_usage(disk).free
    return ballast


def post(url: str, path: str, body: dict[str, Any]) -> httpx2.Response:
    return httpx2.post(f"{url}{path}", json=body, timeout=60)


def write_until_full(url: str) -> httpx2.Response:
    """The refusal. The log may have some space of its own left."""
    for number in range(2_000):
        answer = post(url, "/v2/notes", {"text": f"{number} {TEXT}"})
        if answer.status_code != 201:
            return answer
    raise AssertionError("the disk was never full")


async def test_a_full_disk_is_told_and_searches_go_on(disk: Path) -> None:
    with LoggedServer(disk) as server:
        url = server.url
        kept = post(url, "/v2/notes", {"text": "Kept before the disk was full."}).json()["note_id"]
        ballast = fill(disk)
        refused = write_until_full(url)
        assert refused.status_code == 503
        assert (refused.json()["code"], refused.json()["retryable"]) == ("disk_full", True)
        assert "disk is full; nothing was written" in refused.json()["detail"]

        found = post(url, "/v2/searches", {"query": "kept before the disk was full"})
        assert found.status_code == 200
        assert found.json()["items"][0]["note_id"] == kept
        assert found.json()["kept"] is False
        async with Client(f"{url}/mcp") as client:
            answer = await client.call_tool("hybrid_search", {"query": "kept before", "include_memory": True})
            assert not answer.is_error
            arguments = {"content": TEXT, "type": "fact", "confidence": 1.0}
            stored = await client.call_tool("memory_store", arguments)
            assert stored.structured_content is not None
            assert stored.structured_content["code"] == "disk_full"

        health = httpx2.get(f"{url}/health")
        assert (health.status_code, health.json()["checks"]["store"]["code"]) == (503, "disk_full")
        ready = httpx2.get(f"{url}/readyz")
        assert (ready.status_code, "disk is full" in ready.text) == (503, True)
        (failure,) = server.events("store_failed")
        assert (failure["level"], failure["cause"], "disk is full" in failure["message"]) == (
            "ERROR",
            "SQLITE_FULL",
            True,
        )

        ballast.unlink()
        assert httpx2.get(f"{url}/readyz").status_code == 200
        assert httpx2.get(f"{url}/health").json()["status"] == "healthy"
        assert post(url, "/v2/notes", {"text": TEXT}).status_code == 201
        assert post(url, "/v2/searches", {"query": "kept"}).json()["kept"] is True


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_server_stops_and_starts_while_the_disk_is_full(disk: Path, end: str) -> None:
    with LoggedServer(disk) as server:
        kept = post(server.url, "/v2/notes", {"text": "Kept before the disk was full."}).json()["note_id"]
        ballast = fill(disk)
        assert write_until_full(server.url).json()["code"] == "disk_full"
        if end == "stop":
            assert server.stop() == 0
        else:
            server.kill()

        server.start()
        url = server.url
        assert httpx2.get(f"{url}/v2/notes/{kept}").status_code == 200
        assert post(url, "/v2/searches", {"query": "kept before the disk was full"}).json()["items"]
        write_until_full(url)
        assert httpx2.get(f"{url}/readyz").status_code == 503
        ballast.unlink()
        assert httpx2.get(f"{url}/readyz").status_code == 200
        assert post(url, "/v2/notes", {"text": TEXT}).status_code == 201
        assert server.stop() == 0
        assert "Traceback" not in server.log.read_text()
