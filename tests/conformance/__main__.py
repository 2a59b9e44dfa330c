"""`make conformance`: the protocol's own suite against our server and a fixture, then its inspector against ours.

Expected failures and their reasons: the two YAML files here, and docs/reference/conformance.md. Anything else that
fails, and anything expected that passes, makes the exit code 1.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.conformance.node import CONFORMANCE, INSPECTOR, Node
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
REVISIONS = ("2025-11-25", "2026-07-28")  #: the protocol versions, with a handshake and without
START_SECONDS = 60


def main() -> int:
    """Run everything; returns the exit code."""
    node = Node()
    node.install(CONFORMANCE, INSPECTOR)
    with tempfile.TemporaryDirectory() as folder, NurProcess(Path(folder) / "data", LOG_LEVEL="ERROR") as server:
        url = f"{server.url}/mcp"
        good = [_suite(node, "our server", url, HERE / "expected_of_server.yml", revision) for revision in REVISIONS]
        good += [_inspect_list(node, url), _inspect_call(node, url)]
    with _fixture() as url:
        good += [_suite(node, "fixture", url, HERE / "expected_of_fixture.yml", revision) for revision in REVISIONS]
    return 0 if all(good) else 1


def _suite(node: Node, name: str, url: str, expected: Path, revision: str) -> bool:
    """Run the server tests of one protocol revision."""
    arguments = ["--url", url, "--requirements", revision, "--expected-failures", str(expected)]
    run = node.run("conformance", "server", *arguments)
    _, _, summary = run.stdout.partition("=== SUMMARY ===")
    _tell(f"{name}, revision {revision}", run.returncode == 0, summary.strip() or run.stdout + run.stderr)
    return run.returncode == 0


def _inspect_list(node: Node, url: str) -> bool:
    """Check that the inspector lists our tools and accepts their schemas."""
    run = node.run("mcp-inspector", "--cli", url, "--transport", "http", "--method", "tools/list", "--strict")
    tools = json.loads(run.stdout)["tools"] if run.returncode == 0 else []
    _tell("inspector, tools/list", bool(tools), ", ".join(tool["name"] for tool in tools) or run.stderr)
    return bool(tools)


def _inspect_call(node: Node, url: str) -> bool:
    """Store a memory with the inspector."""
    arguments = ["content=The inspector was here", "type=fact", "confidence=1.0"]
    run = node.run(
        "mcp-inspector",
        *("--cli", url, "--transport", "http", "--method", "tools/call", "--tool-name", "memory_store"),
        *(part for argument in arguments for part in ("--tool-arg", argument)),
    )
    good = run.returncode == 0 and "Stored memory [mem_" in run.stdout
    _tell("inspector, tools/call", good, run.stdout.strip() if good else run.stdout + run.stderr)
    return good


@contextmanager
def _fixture() -> Iterator[str]:
    """The fixture server in a child process."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.conformance.fixture_server", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)  # the SDK draws a traceback for each unknown prompt
    try:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            with closing(socket.socket()) as knock:
                if knock.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


def _tell(what: str, good: bool, details: str) -> None:
    sys.stdout.write(f"\n== {what}: {'as expected' if good else 'NOT AS EXPECTED'}\n{details}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
