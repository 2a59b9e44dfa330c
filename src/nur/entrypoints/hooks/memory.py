"""What a hook knows: the data folder's server, reached quickly or not at all, and a small file per session."""

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

#: For everything that one hook does: a prompt waits for it. NUR_HOOK_TIMEOUT names another.
MOST_SECONDS = 1.5
START_SECONDS = 0.3
_POLL_SECONDS = 0.05
IDLE_EXIT_MINUTES = "15"

#: Files of sessions that nobody continued are removed.
KEPT_SECONDS = 30 * 86_400.0


class Unreachable(Exception):
    """No server answered in time; the hook does nothing."""


def data_folder(given: str | None) -> Path:
    """The data folder: named, from the environment, or the platform's usual one."""
    named = given or os.environ.get("NUR_DATA_DIR")
    if named:
        return Path(named)
    from platformdirs import user_data_path

    return user_data_path("nur", appauthor=False)


class Memory:
    """Calls REST routes until its time is over. Raises Unreachable."""

    def __init__(self, folder: Path) -> None:
        self._deadline = time.monotonic() + float(os.environ.get("NUR_HOOK_TIMEOUT") or MOST_SECONDS)
        self._folder = folder

    def get(self, path: str, **params: str | int) -> dict[str, Any]:
        """The answer to a GET."""
        return self._call("GET", f"{path}?{urlencode(params)}", None)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a POST."""
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
        found = self._recorded()
        if found is None:
            self._start()
            give_up = time.monotonic() + START_SECONDS
            while (found := self._recorded()) is None:
                if time.monotonic() > give_up:
                    raise Unreachable("the server is starting")
                time.sleep(_POLL_SECONDS)
        return found

    def _recorded(self) -> tuple[str, int, str | None] | None:
        try:
            facts = json.loads((self._folder / "server.json").read_text(encoding="utf-8"))
            os.kill(int(facts["pid"]), 0)  # a server that was killed leaves its file behind
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
    """Where the transcript was read to, and what was shown. Losing it costs work, not truth: turns are numbered."""

    path: Path
    offset: int = 0
    turns: int = 0  #: stored so far
    shown: list[str] = field(default_factory=list)  #: ids of chunks whose passages were put into a prompt
    seen: list[str] = field(default_factory=list)  #: turns that events carried

    @classmethod
    def load(cls, folder: Path, client: str, session: str) -> Session:
        """The session's, or a new one."""
        name = hashlib.sha256(f"{client}:{session}".encode()).hexdigest()[:24]
        path = folder / "hooks" / f"{name}.json"
        try:
            kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return cls(path, int(kept["offset"]), int(kept["turns"]), list(kept["shown"]), list(kept["seen"]))
        except (OSError, ValueError, KeyError, TypeError):
            return cls(path)

    def save(self) -> None:
        """Write it, and remove old ones."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self.path.exists():
            self._remove_old()
        kept = {"offset": self.offset, "turns": self.turns, "shown": self.shown[-500:], "seen": self.seen[-500:]}
        partial = self.path.with_suffix(".part")
        partial.write_text(json.dumps(kept), encoding="utf-8")
        partial.replace(self.path)

    def _remove_old(self) -> None:
        oldest = time.time() - KEPT_SECONDS
        for other in self.path.parent.glob("*.json"):
            if other.stat().st_mtime < oldest:
                other.unlink(missing_ok=True)
