"""Parses the commands shown in README and docs, and runs them in a temporary environment.

Blocks marked `console`, `bash` or `sh` are run unless the comment `<!-- not run: reason -->` precedes them. In
`console` blocks commands start with `$ ` and are followed by their output; in the others every line is a command.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.shown_files import write_files

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = re.compile(
    r"(?:<!--(?P<mark>[^>]*)-->\n+)?^(?P<indent> *)```(?P<kind>console|bash|sh)\n(?P<body>.*?)^ *```",
    re.MULTILINE | re.DOTALL,
)
NOT_RUN = re.compile(r"not run: \S.*")
SERVES = re.compile(r"^(?:\w+=\S+ )*nur serve\b")
COMMENT = re.compile(r"\s{2,}# .*$")
BACKUP_NAME = re.compile(r"nur-\d{8}T\d{6}Z\.tar\.gz")
PORT = re.compile(r"(localhost|127\.0\.0\.1):3000")
SECONDS = 120.0
LEFT_OUT = "…"
HOME_SHOWN = "/home/you"
BACKUPS_SHOWN = "/mnt/backups"


@dataclass(frozen=True, slots=True)
class Command:
    """One command with the output that the page shows."""

    text: str
    output: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a page; `reason` says why it is not run, or is None."""

    line: int
    commands: tuple[Command, ...]
    mark: str

    @property
    def reason(self) -> str | None:
        found = NOT_RUN.fullmatch(self.mark)
        return found[0].removeprefix("not run: ") if found else None


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a page in order."""
    for found in BLOCK.finditer(text):
        lines = [line.removeprefix(found["indent"]) for line in found["body"].splitlines()]
        commands = _console(lines) if found["kind"] == "console" else [Command("\n".join(lines))]
        mark = (found["mark"] or "").strip()
        yield Block(text[: found.start("kind")].count("\n") + 1, tuple(commands), mark)


def _console(lines: list[str]) -> list[Command]:
    commands: list[tuple[list[str], list[str]]] = []
    closing: str | None = None  # the word that ends a here-document
    for line in lines:
        if closing is not None:
            commands[-1][0].append(line)
            closing = None if line == closing else closing
        elif line.startswith("$ "):
            commands.append(([COMMENT.sub("", line[2:])], []))
            here = re.search(r"<<'?(\w+)'?", line)
            closing = here[1] if here else None
        elif commands and commands[-1][0][-1].endswith("\\"):
            commands[-1][0].append(line)
        elif commands:
            commands[-1][1].append(line)
    return [Command("\n".join(text), tuple(filter(str.strip, output))) for text, output in commands]


def normal(text: str) -> str:
    """Output with ids, numbers and column widths removed, so that two runs can be compared."""
    text = re.sub(r"\b(mem|art|note|evt)_[0-9a-f]{6,}", r"\1_0", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "0", text)
    text = re.sub(r"\d+([.,:T-]\d+)*Z?", "0", text)
    return re.sub(r"\s+", " ", text)


class Machine:
    """A home folder, a folder with files to ingest, a free port, and a server as the pages assume."""

    def __init__(self, folder: Path, port: int) -> None:
        self.home, self.work, self.backups = (folder / name for name in ("home", "work", "backups"))
        for one in (self.home, self.work, self.backups):
            one.mkdir(parents=True)
        write_files(self.work)
        self.port = port
        self.server: subprocess.Popen[str] | None = None
        self.log = folder / "server.log"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def environment(self) -> dict[str, str]:
        """The environment, without the user's settings; the port replaces the pages' 3000."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        name = {"GIT_AUTHOR_NAME": "You", "GIT_AUTHOR_EMAIL": "you@example.com"}
        name |= {key.replace("AUTHOR", "COMMITTER"): value for key, value in name.items()}
        return {
            "HOME": str(self.home),
            "PATH": path,
            "LANG": "C.UTF-8",
            "MCP_PORT": str(self.port),
            "COLUMNS": "200",
            **name,
        }

    def run(self, block: Block) -> list[str]:
        """Run a block's commands in order; returns what went wrong."""
        exports: list[str] = []
        problems = []
        for command in block.commands:
            if command.text.startswith("export "):
                exports.append(self._here(command.text))
            elif SERVES.match(command.text):
                problems += self._served(exports, command)
            else:
                problems += self._ran(exports, command)
        return problems

    def serve(self, exports: list[str] | None = None, text: str = "nur serve") -> str:
        """Replace the running server by one started as a page shows; returns its output."""
        self.stop()
        with self.log.open("w") as log:
            script = "\n".join([*(exports or []), f"exec env {self._here(text)}"])
            self.server = subprocess.Popen(
                ["bash", "-c", script], cwd=self.work, env=self.environment(), stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
        deadline = time.monotonic() + SECONDS
        while "Nur listens on" not in self.log.read_text():
            if self.server.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(self.log.read_text())
            time.sleep(0.05)
        return self.log.read_text()

    def stop(self) -> None:
        """Stop the server, if it is running."""
        if self.server is not None and self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
            self.server.wait(30)
        self.server = None

    def _served(self, exports: list[str], command: Command) -> list[str]:
        printed = self.serve(exports, command.text)
        return self._missing(command, printed)

    def _ran(self, exports: list[str], command: Command) -> list[str]:
        script = "\n".join(["set -e", *exports, self._here(command.text)])
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.work, env=self.environment(), input="y\n", capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
        printed = done.stdout + done.stderr
        if done.returncode != 0:
            return [f"$ {command.text}\nexit code {done.returncode}: {printed}"]
        return self._missing(command, printed)

    def _missing(self, command: Command, printed: str) -> list[str]:
        found = normal(self._shown(printed))
        wanted = [
            line.replace("[y/N]: y", "[y/N]:") for line in command.output if line != LEFT_OUT
        ]  # answers are not printed
        lines = [line for line in wanted if normal(self._shown(line)).strip() not in found]
        return [f"$ {command.text}\ndoes not print {line!r}, but\n{printed}" for line in lines]

    def _here(self, text: str) -> str:
        """A page's command with this environment's folders, port and newest backup."""
        text = PORT.sub(rf"\1:{self.port}", text).replace(BACKUPS_SHOWN, str(self.backups))
        newest = max(self.backups.glob("nur-*.tar.gz"), default=None)
        return BACKUP_NAME.sub(newest.name, text) if newest else text

    def _shown(self, text: str) -> str:
        """A command's output as a page would show it."""
        text = text.replace(str(self.home), HOME_SHOWN).replace(str(self.work), HOME_SHOWN)
        program = shutil.which("nur", path=self.environment()["PATH"]) or "nur"
        return text.replace(str(self.backups), BACKUPS_SHOWN).replace(program, "nur")
