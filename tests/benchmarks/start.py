"""Time from process start to the response to `initialize`."""

from __future__ import annotations

import http.client
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from tests.benchmarks import baselines
from tests.servers.nur_server import clean_environment

if TYPE_CHECKING:
    from tests.benchmarks.figures import Report

ROUNDS = 5
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def test_start(report: Report) -> None:
    """Five starts on an existing store, against five bare imports of the SDK's server."""
    walls, cpus, ready, floors, floor_cpus = [], [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        _start(Path(folder) / "data")  # creates the store, and warms the disk cache
        for _ in range(ROUNDS):
            floor = baselines.import_mcp(repeats=1)
            floors.append(floor.wall_seconds)
            floor_cpus.append(floor.cpu_seconds)
            wall, cpu, open_wall = _start(Path(folder) / "data")
            walls.append(wall)
            cpus.append(cpu)
            ready.append(open_wall)
    median = statistics.median
    report.add(
        "start to initialize, wall",
        median(walls),
        "s",
        beside=median(floors),
        yardstick="import mcp.server",
        target="< 2 s idle",
    )
    report.add("start to initialize, CPU", median(cpus), "s", beside=median(floor_cpus), yardstick="import mcp.server")
    report.add("start to initialize, best wall", min(walls), "s", beside=min(floors), yardstick="import mcp.server")
    report.add("start to open store, wall", median(ready), "s")


def _start(folder: Path) -> tuple[float, float, float]:
    """Wall and CPU seconds to the response, and wall seconds until the store is open."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nur", "serve", "--quiet", "--port", str(port)]
    started = time.perf_counter()
    process = subprocess.Popen(command, env=clean_environment(folder, LOG_LEVEL="ERROR"))
    try:
        _ask(process, port, "POST", "/mcp", json.dumps(INITIALIZE))
        answered = time.perf_counter() - started
        cpu = sum(psutil.Process(process.pid).cpu_times()[:2])
        _ask(process, port, "GET", "/readyz", None)
        return answered, cpu, time.perf_counter() - started
    finally:
        process.terminate()
        process.wait()


def _ask(process: subprocess.Popen[bytes], port: int, method: str, path: str, body: str | None) -> None:
    """Retry until there is a response."""
    while process.poll() is None:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            try:
                connection.request(method, path, body, HEADERS)
                answer = connection.getresponse()
                answer.read()
            except ConnectionError:
                time.sleep(0.005)
                continue
            if answer.status == http.HTTPStatus.OK:
                return
    raise RuntimeError(f"the server left with exit code {process.returncode}")
