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
#: How long a command waits for a server that owns the folder but does not answer yet.
WAIT_SECONDS = 10.0
_POLL_SECONDS = 0.05
_IN_USE = 3


@dataclass(frozen=True, slots=True)
class Server:
    """Address and token of a server."""

    host: str
    port: int
    token: str | None

    def answers(self) -> bool:
        """Whether GET /livez succeeds."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=5)
        try:
            connection.request("GET", "/livez")
            return connection.getresponse().status == http.client.OK
        except OSError:
            return False
        finally:
            connection.close()


def locate(folder: Path) -> Server:
    """Find the data folder's server; start a detached one if there is none. Raises NurError."""
    return running_server(folder) or _start(folder)


def running_server(folder: Path) -> Server | None:
    """The server recorded in `server.json`; None if it does not answer."""
    try:
        facts = json.loads((folder / "server.json").read_text(encoding="utf-8"))
        parts = urlsplit(facts["url"])
        server = Server(parts.hostname or "127.0.0.1", parts.port or 80, facts.get("token"))
    except (OSError, ValueError, KeyError):
        return None
    return server if server.answers() else None


def wait_for_server(folder: Path) -> Server | None:
    """Wait for the server of a folder in use, which may be starting or busy; None if none answers in time."""
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
        if code == _IN_USE:  # another relay is starting a server, or the previous server has not exited yet
            process = _spawn(folder, log)
        elif code is not None:
            raise _start_error(code, log)
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


def _start_error(code: int, log: Path) -> NurError:
    """Error for a server that exited while starting, with the last error message of its log."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    logged = next((line.removeprefix("nur: ") for line in reversed(lines) if line.startswith("nur: ")), "")
    message = logged or f"The server stopped with exit code {code}. Its log is {log}."
    errors: dict[int, type[NurError]] = {2: BadConfiguration, 4: StoreUnusable}
    return errors.get(code, NurError)(message)
