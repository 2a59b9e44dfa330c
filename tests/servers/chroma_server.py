"""A real Chroma server (`chroma run`) in a child process on a free loopback port."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

_START_SECONDS = 60.0
_STOP_SECONDS = 15.0
_COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"


def _free_port() -> int:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class ChromaProcess:
    """The server. It keeps its data and port when stopped, so that it can be restarted."""

    host = "127.0.0.1"

    def __init__(self, folder: Path) -> None:
        self.port = _free_port()
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [Path(sys.executable).with_name("chroma"), "run", "--host", self.host]
        command += ["--port", str(self.port), "--path", self._folder / "data"]
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(part) for part in command], stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self._folder
            )
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError((self._folder / "log").read_text())
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(_STOP_SECONDS)
            self._process = None

    def freeze(self) -> None:
        """Pause it: connections stay open, but nothing is answered."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Resume it."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def empty(self) -> None:
        """Delete every collection."""
        for collection in self._call("GET", _COLLECTIONS):
            self._call("DELETE", f"{_COLLECTIONS}/{quote(collection['name'], safe='')}")

    def _call(self, method: str, path: str) -> Any:
        with closing(http.client.HTTPConnection(self.host, self.port, timeout=_START_SECONDS)) as connection:
            connection.request(method, path)
            response = connection.getresponse()
            body = response.read()
            assert response.status == http.HTTPStatus.OK, (method, path, response.status, body)
            return json.loads(body)

    def _answers(self) -> bool:
        with closing(http.client.HTTPConnection(self.host, self.port, timeout=1)) as connection:
            try:
                connection.request("GET", "/api/v2/heartbeat")
                return connection.getresponse().status == http.HTTPStatus.OK
            except OSError:
                return False


_started: list[ChromaProcess] = []  #: by this test process
_unused: list[ChromaProcess] = []  #: of these, those that no test has borrowed


@contextmanager
def borrowed() -> Iterator[ChromaProcess]:
    """A server without collections that nobody else uses meanwhile."""
    if _unused:
        server = _unused.pop()
    else:
        server = ChromaProcess(Path(tempfile.mkdtemp(prefix="nur-chroma-")))
        _started.append(server)
        server.start()
    try:
        server.empty()
        yield server
    finally:
        _unused.append(server)


def remove_borrowed() -> None:
    """Stop the servers that tests borrowed, and delete their data."""
    while _started:
        server = _started.pop()
        server.kill()
        shutil.rmtree(server._folder)
    _unused.clear()
