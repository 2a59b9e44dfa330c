"""Find the data folder's server, or start one."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from nur.domain.errors import BadConfiguration, DataFolderInUse, NurError, StoreUnusable

if TYPE_CHECKING:
    from pathlib import Path

START_SECONDS = 60.0
IDLE_EXIT_MINUTES = "15"
#: How long a command waits for a server that has the folder and does not answer yet.
WAIT_SECONDS = 10.0
_POLL_SECONDS = 0.05
_IN_USE = 3


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: where it is and what it asks of callers."""

    host: str
    port: int
    token: str | None

    def answers(self) -> bool:
        """Whether it is alive."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=5)
        try:
            connection.request("GET", "/livez")
            return connection.getresponse().status == http.client.OK
        except OSError:
            return False
        finally:
            connection.close()


def locate(folder: Path) -> Server:
    """The server of this data folder; a detached one is started when there is none."""
    return running_server(folder) or _start(folder)


def running_server(folder: Path) -> Server | None:
    """The server recorded in `server.json`, if it answers."""
    try:
        facts = json.loads((folder / "server.json").read_text(encoding="utf-8"))
        parts = urlsplit(facts["url"])
        server = Server(parts.hostname or "127.0.0.1", parts.port or 80, facts.get("token"))
    except (OSError, ValueError, KeyError):
        return None
    return server if server.answers() else None


def wait_for_server(folder: Path) -> Server | None:
    """The server of a folder that is in use: it may be starting, or too busy to answer at once. None when none does."""
    deadline = time.monotonic() + WAIT_SECONDS
    while (server := running_server(folder)) is None and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return server


def _start(folder: Path) -> Server:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    log = folder / "server.log"
    process = _spawn(folder, log)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server := running_server(folder):
            return server
        code = process.poll()
        if code == _IN_USE:  # another relay's server is coming up, or a server that is stopping has not exited yet
            process = _spawn(folder, log)
        elif code is not None:
            raise _failed(code, log)
        time.sleep(_POLL_SECONDS)
    raise DataFolderInUse(f"No server answered for {folder} within {START_SECONDS:.0f} s. Its log is {log}.")


def _spawn(folder: Path, log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as errors:
        return subprocess.Popen(  # noqa: S603  # our own program
            [sys.executable, "-m", "nur", "serve", "--port", "0", "--quiet", "--data-dir", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**os.environ, "NUR_IDLE_EXIT_MINUTES": IDLE_EXIT_MINUTES},
            start_new_session=True,
        )


def _failed(code: int, log: Path) -> NurError:
    """The server's own last words, under the exit code that it left with."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    words = next((line.removeprefix("nur: ") for line in reversed(lines) if line.startswith("nur: ")), "")
    message = words or f"The server stopped with exit code {code}. Its log is {log}."
    kinds: dict[int, type[NurError]] = {2: BadConfiguration, 4: StoreUnusable}
    return kinds.get(code, NurError)(message)
