"""Kills backups and restores: no partial file may look like a backup, and no folder may lose its store."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.adapters.sql.sqlite.files import FILE
from nur.adapters.sql.sqlite.restore import SCRATCH
from nur.domain.errors import StoreUnusable
from tests.cli import Cli
from tests.killed_import import an_export
from tests.servers.nur_server import clean_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATIENCE_SECONDS = 90.0


@dataclass
class KilledBackup:
    """A folder with notes, and commands on it that get killed."""

    folder: Path
    work: Path  #: for files
    seed: int

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._cli = Cli(self.folder)
        (self.work / "notes.jsonl").write_bytes(an_export(100))
        self._cli("import", str(self.work / "notes.jsonl"))

    def survive_backups(self, rounds: int) -> None:
        """Kill one backup per round; afterwards a backup that is not killed is complete, and no other files remain."""
        target = self.work / "b.tar.gz"
        left = self.work / ".b.tar.gz.part"
        for _ in range(rounds):
            self._run_and_kill(["backup", "--output", str(target)], left.exists)
            if target.exists():
                self._cli("restore", str(target), "--check")
                target.unlink()
        self._cli("backup", "--output", str(target))
        assert "is valid: 100 notes" in self._cli("restore", str(target), "--check")
        assert not left.exists()

    def survive_restores(self, rounds: int) -> None:
        """Kill one restore per round: leaves the previous store, the restored one or an error, never an empty one."""
        target = self.work / "b.tar.gz"
        restored = self._cli("export")
        self._cli("backup", "--output", str(target))
        self._cli("remember", "Said after the backup.")
        former = self._cli("export")
        moments = [(self.folder / SCRATCH).exists, (self.folder / SCRATCH / FILE).exists, self._is_aside]
        for number in range(rounds):
            self._run_and_kill(["restore", str(target), "--yes"], moments[number % len(moments)])
            try:
                assert self._cli("export") in (former, restored)
            except AssertionError as error:
                if not isinstance(error.args[0], tuple) or not isinstance(error.args[0][1], StoreUnusable):
                    raise
        self._cli("restore", str(target), "--yes")
        assert self._cli("export") == restored
        assert not (self.folder / SCRATCH).exists()

    def _is_aside(self) -> bool:
        return any(self.folder.glob("before-restore-*"))

    def _run_and_kill(self, arguments: list[str], moment: Callable[[], bool]) -> None:
        """Send SIGKILL at this moment or a little later, unless the command ends first."""
        command = [sys.executable, "-m", "nur", *arguments]
        with subprocess.Popen(command, env=clean_environment(self.folder), stdout=subprocess.DEVNULL) as child:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while child.poll() is None and not moment():
                assert time.monotonic() < deadline
            time.sleep(self._random.choice([0.0, 0.002, 0.02, 0.1]))
            child.kill()
