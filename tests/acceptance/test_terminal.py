"""What a person at a terminal sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from nur.entrypoints.cli.app import COMMANDS, run

if TYPE_CHECKING:
    from pathlib import Path


def test_nur_alone_says_what_to_do_next(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    page = capsys.readouterr().out
    named = [line.split()[1] for line in page.splitlines() if line.startswith("  nur ")]
    assert named == ["serve", "connect", "remember", "ingest", "search", "doctor", "--help"]
    assert {name for name in named if name != "--help"} <= set(COMMANDS)
    assert max(map(len, page.splitlines())) <= 80


def test_the_other_name_of_the_command_is_used_where_it_was_called(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([], called="nur-memory") == 0
    assert "  nur-memory serve " in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")
@pytest.mark.parametrize("asked", [{}, {"LOG_FORMAT": "json"}])
def test_log_lines_on_a_terminal_are_for_people_unless_json_is_asked_for(tmp_path: Path, asked: dict[str, str]) -> None:
    (tmp_path / "nur.db").write_bytes(b"not a database" * 100)  # refused with a log line, at once
    tmp_path.chmod(0o700)
    terminal, end = os.openpty()
    environment = {**os.environ, "NUR_DATA_DIR": str(tmp_path), **asked}
    command = [sys.executable, "-m", "nur", "serve", "--port", "0"]
    assert subprocess.run(command, env=environment, stderr=end, check=False).returncode == 4
    os.close(end)
    lines = os.read(terminal, 65536).decode().splitlines()
    os.close(terminal)
    (refused,) = [line for line in lines if "start_refused" in line]
    if asked:
        assert json.loads(refused)["level"] == "CRITICAL"
    else:
        assert " CRITICAL Server: start_refused error=" in refused
