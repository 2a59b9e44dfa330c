"""Commands about a server and a note in it: status, stop, logs, edit, completion."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client

from nur.entrypoints.cli.app import COMMANDS, run
from tests.servers.nur_server import NurProcess, clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator


class Shell:
    """Runs commands in this process, on one data folder."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self._capsys = capsys
        self.folder = folder

    def __call__(self, *arguments: str, code: int = 0) -> str:
        left = run([*arguments, "--data-dir", str(self.folder)])
        printed = self._capsys.readouterr()
        assert left == code, printed
        return printed.out + printed.err

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self(*arguments, "--json", code=code))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NurProcess]:
    with NurProcess(tmp_path_factory.mktemp("server") / "data") as running:
        yield running


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], server: NurProcess) -> Shell:
    """On the folder of a running server."""
    return Shell(capsys, server.folder)


@pytest.fixture
def alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Shell:
    """On a folder without a server."""
    return Shell(capsys, tmp_path / "data")


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that is none of ours."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()
    assert process.stdin is not None
    process.stdin.close()


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that appends a line to what it is given; its file can be written again."""
    program = tmp_path / "editor"
    program.write_text('#!/bin/sh\necho "Added by hand." >> "$1"\n')
    program.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(program))
    return program


# status


def test_status_describes_the_running_server(shell: Shell, server: NurProcess) -> None:
    before = shell.json("status")["notes"]
    shell("remember", "The lighthouse keeper drinks mint tea.")
    shell("remember", "A storm came.", "--kind", "event")
    found = shell.json("status")
    assert (found["running"], found["url"], found["pid"]) == (True, server.url, server.process.pid)
    assert found["data_dir"] == str(server.folder)
    assert found["health"] == "healthy"
    assert 0 <= found["uptime_seconds"] < 3600
    gained = {kind: count - before[kind] for kind, count in found["notes"].items()}
    assert gained == {"memory": 1, "turn": 0, "artifact": 0, "note": 0, "event": 1}
    assert found["backlog"] == {"pending": 0, "dead": 0}


def test_status_in_a_pipe_is_one_line_per_fact(shell: Shell, server: NurProcess) -> None:
    rows = dict(line.split("\t") for line in shell("status").splitlines())
    assert rows["server"] == f"{server.url} (MCP at {server.url}/mcp)"
    assert rows["data"] == str(server.folder)
    assert rows["index"] == "flat, healthy"
    assert rows["backlog"] == "0 to be indexed"


def test_status_fits_a_terminal(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"TTY_COMPATIBLE": "1", "COLUMNS": "80", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    lines = shell("status").splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("server ")


def test_without_a_server_status_says_how_to_start_one(alone: Shell) -> None:
    assert "nur serve" in alone("status", code=1)
    assert alone.json("status", code=1) == {"running": False, "data_dir": str(alone.folder)}


def test_a_store_that_cannot_be_used_is_named_and_exits_1(alone: Shell) -> None:
    with NurProcess(alone.folder):
        for file in alone.folder.glob("nur.db*"):
            file.unlink()
        rows = dict(line.split("\t") for line in alone("status", code=1).splitlines())
        assert rows["health"] == "unhealthy"
        assert rows["store"].startswith("unhealthy: ")
        assert "notes" not in rows


# stop


def test_a_command_waits_for_a_server_that_is_starting(alone: Shell) -> None:
    starting = subprocess.Popen(
        [sys.executable, "-m", "nur", "serve", "--port", "0", "--quiet"],
        env=clean_environment(alone.folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not (alone.folder / "lock").exists():
            assert starting.poll() is None
        assert "created" in alone("remember", "The server was only starting.")
    finally:
        starting.terminate()
        starting.wait(30)


def test_stop_ends_the_server_and_waits_for_it(alone: Shell) -> None:
    with NurProcess(alone.folder) as running:
        told = alone("stop")
        assert f"process {running.process.pid}" in told
        alone("remember", "The folder is free.")  # nobody holds its lock any more
        assert running.process.wait(30) == 0
    assert alone("stop") == f"No server runs for {alone.folder}.\n"


def test_stop_ends_no_process_that_is_not_the_server(alone: Shell, bystander: subprocess.Popen[bytes]) -> None:
    facts = alone.folder / "server.json"
    facts.write_text(json.dumps({"url": "http://127.0.0.1:9", "pid": bystander.pid, "version": "2", "token": None}))
    assert "No server runs" in alone("stop")  # left over from a server that was killed
    with NurProcess(alone.folder) as running:
        right = facts.read_text()
        facts.write_text(json.dumps({**json.loads(right), "pid": bystander.pid}))
        assert "Nothing was stopped" in alone("stop", code=1)
        assert running.process.poll() is None
        facts.write_text(right)
    assert bystander.poll() is None


# logs


def test_logs_shows_the_last_lines_and_where_they_are(alone: Shell) -> None:
    assert "There is no" in alone("logs", code=5)
    log = alone.folder / "server.log"
    log.write_text("".join(f'{{"event": "number {i}"}}\n' for i in range(100)))
    told = alone("logs", "--lines", "2")
    assert told == f'{{"event": "number 98"}}\n{{"event": "number 99"}}\nLog: {log}\n'
    assert len(alone("logs").splitlines()) == 51


def test_logs_follows_what_is_added_also_to_a_new_file(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    log = folder / "server.log"
    log.write_text("first, which is a long line\n")
    follower = subprocess.Popen(
        [sys.executable, "-m", "nur", "logs", "--follow"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**clean_environment(folder), "PYTHONUNBUFFERED": "1"},
    )
    assert follower.stdout is not None
    try:
        assert follower.stdout.readline() == "first, which is a long line\n"
        with log.open("a") as file:
            file.write("second\n")
        assert follower.stdout.readline() == "second\n"
        log.write_text("third\n")
        assert follower.stdout.readline() == "third\n"
    finally:
        follower.kill()
        follower.wait()
        follower.stdout.close()


# edit


def test_the_editor_changes_the_text(shell: Shell, editor: Path) -> None:
    note = shell.json("remember", "The gate closes at nine.", "--kind", "note")["note_id"]
    assert shell("edit", note) == f"{note} replaced, indexed\n"
    assert shell.json("get", note)["text"] == "The gate closes at nine.\nAdded by hand."
    editor.write_text("#!/bin/sh\n")
    assert shell("edit", note) == "Nothing was changed.\n"


def test_flags_change_a_note_without_an_editor(alone: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "false")
    note = alone.json("remember", "Seats are booked.", "--kind", "note", "--title", "Old")["note_id"]
    receipt = alone.json("edit", note, "--text", "Seats are paid.", "--title", "New", "--type", "travel")
    assert receipt["operation"] == "replaced"
    found = alone.json("get", note)
    assert (found["text"], found["title"], found["type"]) == ("Seats are paid.", "New", "travel")
    alone("edit", note, "--title", "")
    assert alone.json("get", note)["title"] is None


def test_what_somebody_else_changed_is_not_overwritten_and_the_text_is_kept(shell: Shell, editor: Path) -> None:
    note = shell.json("remember", "Lunch is at noon.", "--kind", "note")["note_id"]
    other = f'{sys.executable} -m nur edit {note} --data-dir "{shell.folder}" --text "Lunch is at one."'
    editor.write_text(f'#!/bin/sh\n{other} >/dev/null\necho "Mine." >> "$1"\n')
    told = shell("edit", note, code=1)
    assert f"{note} was changed by another writer" in told
    kept = Path(told.rsplit(" ", 1)[1].strip())
    assert kept.read_text() == "Lunch is at noon.\nMine."
    kept.unlink()
    assert shell.json("get", note)["text"] == "Lunch is at one."


def test_edit_says_what_cannot_be_edited_before_the_editor_opens(
    shell: Shell, alone: Shell, server: NurProcess, editor: Path
) -> None:
    assert shell("edit", "note_none", code=5) == "nur: Note note_none not found\n"
    artifact = asyncio.run(ingest(server, "The lease of the boat house ends in June."))
    editor.write_text("#!/bin/sh\nexit 9\n")
    assert "store the artifact again" in shell("edit", artifact, code=2)
    memory = shell.json("remember", "Prefers the window seat.")["note_id"]
    assert shell("edit", memory, "--type", "wish", code=2).startswith("nur: ")
    assert "Nothing is stored yet" in Shell(shell._capsys, alone.folder / "new")("edit", "note_none", code=5)


async def ingest(server: NurProcess, text: str) -> str:
    async with Client(f"{server.url}/mcp") as client:
        arguments = {"artifact_type": "doc", "source_system": "files", "source_id": "1", "content": text}
        stored = await client.call_tool("artifact_ingest", arguments)
        assert stored.structured_content is not None
        return str(stored.structured_content["artifact_id"])


# completion


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("bash") is None:
        pytest.skip("click asks bash for its version")
    assert run(["completion", name]) == 0
    assert f"_NUR_COMPLETE={name}_complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "place", "expected"),
    [
        ("nur st", 1, ["status", "stdio", "stop"]),
        ("nur ", 1, list(COMMANDS)),
        ("nur connect cu", 2, ["cursor"]),
        ("nur list --ki", 2, ["--kind"]),
        ("nur service ", 2, ["install", "status", "uninstall"]),
    ],
)
def test_the_shell_gets_commands_and_options(words: str, place: int, expected: list[str], tmp_path: Path) -> None:
    asked = {"_NUR_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(place)}
    found = subprocess.run(
        [sys.executable, "-m", "nur"],
        capture_output=True,
        text=True,
        env={**clean_environment(tmp_path), **asked},
        timeout=60,
        check=False,
    )
    assert sorted(line.split(",")[1] for line in found.stdout.splitlines()) == sorted(expected)


def test_a_completion_imports_no_command(tmp_path: Path) -> None:
    code = (
        "import sys; from nur.entrypoints.cli.app import nur; import click; "
        "nur.shell_complete(click.Context(nur), ''); "
        "sys.exit(any(name.startswith('nur.entrypoints.cli.commands.') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], env=clean_environment(tmp_path), check=False).returncode == 0
