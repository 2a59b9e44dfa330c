"""Real `nur serve` and `nur worker` processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path

START_SECONDS = 90.0


def clean_environment(folder: Path, **settings: str) -> dict[str, str]:
    """The process's environment, without the user's settings."""
    keep = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH") if name in os.environ}
    return {**keep, "NUR_DATA_DIR": str(folder), **settings}


class _Process:
    """A `nur` command in a child process. Its data are kept when it ends, so that it can be restarted."""

    command: tuple[str, ...]
    stop_seconds = 30.0

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.settings = settings
        self.log = folder.with_suffix(".log")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it without waiting."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "nur", *self.command],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=clean_environment(self.folder, **self.settings),
            )

    def stop(self) -> int:
        """Stop it with SIGTERM; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(self.stop_seconds)

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self.process.kill()
        self.process.wait(30)


class WorkerProcess(_Process):
    """A `nur worker` process."""

    command = ("worker",)
    stop_seconds = 60.0


class NurProcess(_Process):
    """A `nur serve` process on a free port."""

    command = ("serve", "--port", "0")

    def start(self) -> None:
        """Start it and wait until it has opened its store."""
        super().start()
        deadline = time.monotonic() + START_SECONDS
        while not self._facts():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(self.log.read_text())
            time.sleep(0.05)

    @property
    def url(self) -> str:
        """Its base URL."""
        return str(self._facts()["url"])

    def _facts(self) -> dict[str, object]:
        try:
            facts: dict[str, object] = json.loads((self.folder / "server.json").read_text())
        except (OSError, ValueError):
            return {}
        return facts if facts["pid"] == self.process.pid else {}
