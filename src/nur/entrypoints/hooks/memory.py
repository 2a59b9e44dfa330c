"""What a hook uses: a REST client with a short deadline, and a state file per session."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

#: For all calls of one hook together, since a prompt waits for it. NUR_HOOK_TIMEOUT overrides it.
TIMEOUT_SECONDS = 1.5
START_SECONDS = 0.3
_POLL_SECONDS = 0.05
IDLE_EXIT_MINUTES = "15"

#: State files older than this are removed.
SESSION_SECONDS = 30 * 86_400.0


class Unreachable(Exception):
    """No server answered in time; the hook does nothing."""


def data_folder(option: str | None) -> Path:
    """Data folder from the option, the environment or the platform's default, in this order."""
    path = option or os.environ.get("NUR_DATA_DIR")
    if path:
        return Path(path)
    from platformdirs import user_data_path

    return user_data_path("nur", appauthor=False)


class RestClient:
    """Calls the data folder's server until the deadline, and starts one if there is none. Raises Unreachable."""

    def __init__(self, folder: Path) -> None:
        self._deadline = time.monotonic() + float(os.environ.get("NUR_HOOK_TIMEOUT") or TIMEOUT_SECONDS)
        self._folder = folder

    def get(self, path: str, **params: str | int) -> dict[str, Any]:
        """Response body of a GET."""
        return self._call("GET", f"{path}?{urlencode(params)}", None)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Response body of a POST."""
        return self._call("POST", path, body)

    def _call(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        host, port, token = self._server()
        headers = {"Content-Type": "application/json", "Connection": "close"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection = http.client.HTTPConnection(host, port, timeout=max(0.05, self._deadline - time.monotonic()))
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise Unreachable(type(error).__name__) from error
        finally:
            connection.close()
        if response.status >= http.client.BAD_REQUEST or not isinstance(answer, dict):
            raise Unreachable(f"status {response.status}")
        return answer

    def _server(self) -> tuple[str, int, str | None]:
        """Host, port and token of the data folder's server."""
        server = self._recorded()
        if server is None:
            self._start()
            deadline = time.monotonic() + START_SECONDS
            while (server := self._recorded()) is None:
                if time.monotonic() > deadline:
                    raise Unreachable("the server is starting")
                time.sleep(_POLL_SECONDS)
        return server

    def _recorded(self) -> tuple[str, int, str | None] | None:
        try:
            facts = json.loads((self._folder / "server.json").read_text(encoding="utf-8"))
            os.kill(int(facts["pid"]), 0)  # raises if a killed server left its file behind
            parts = urlsplit(facts["url"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return parts.hostname or "127.0.0.1", parts.port or 80, facts.get("token")

    def _start(self) -> None:
        """Start a server that outlives the hook: the next event finds it."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self._folder / "server.log").open("ab") as errors:
            subprocess.Popen(  # noqa: S603  # our own program
                [sys.executable, "-m", "nur", "serve", "--port", "0", "--quiet", "--data-dir", str(self._folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, "NUR_IDLE_EXIT_MINUTES": IDLE_EXIT_MINUTES},
                start_new_session=True,
            )


@dataclass(slots=True)
class Session:
    """How far a transcript was read, and what was shown. If it is lost, turns are sent again, under their numbers."""

    path: Path
    offset: int = 0  #: into the transcript: bytes, or turns for Gemini
    turns: int = 0  #: stored so far
    shown: list[str] = field(default_factory=list)  #: ids of the chunks that were added to a prompt
    seen: list[str] = field(default_factory=list)  #: turns that were stored from events

    @classmethod
    def load(cls, folder: Path, client: str, session: str) -> Session:
        """Read the session's state; a missing or invalid file gives a new one."""
        name = hashlib.sha256(f"{client}:{session}".encode()).hexdigest()[:24]
        path = folder / "hooks" / f"{name}.json"
        try:
            state: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return cls(path, int(state["offset"]), int(state["turns"]), list(state["shown"]), list(state["seen"]))
        except (OSError, ValueError, KeyError, TypeError):
            return cls(path)

    def save(self) -> None:
        """Write the state; a new session also removes old files."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self.path.exists():
            self._remove_old()
        state = {"offset": self.offset, "turns": self.turns, "shown": self.shown[-500:], "seen": self.seen[-500:]}
        partial = self.path.with_suffix(".part")
        partial.write_text(json.dumps(state), encoding="utf-8")
        partial.replace(self.path)

    def _remove_old(self) -> None:
        oldest = time.time() - SESSION_SECONDS
        for other in self.path.parent.glob("*.json"):
            if other.stat().st_mtime < oldest:
                other.unlink(missing_ok=True)
