"""`nur connect CLIENT --hooks`: hooks are put beside others, once, and taken out again."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from nur.diagnostics.findings import CheckRun, Result
from nur.entrypoints.cli.app import run
from nur.entrypoints.cli.clients.hook_files import HOOK_FILES, check_hooks
from nur.entrypoints.cli.clients.table import Folders
from nur.entrypoints.hooks.payloads import HOOK_CLIENTS

if TYPE_CHECKING:
    from pathlib import Path

OTHERS: dict[str, Any] = {
    "claude-code": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}]},
    "codex": {"PostToolUse": [{"hooks": [{"type": "command", "command": "log hook codex"}]}]},
    "gemini": {"BeforeTool": [{"matcher": "*", "hooks": [{"type": "command", "command": "check"}]}]},
    "cursor": {"stop": [{"command": "say done"}]},
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NUR_DATA_DIR", raising=False)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "home"


def file_of(client: str) -> Path:
    return HOOK_FILES[client].path(Folders.here(), shared=False)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("client", HOOK_FILES)
def test_hooks_go_in_once_and_out_again(client: str) -> None:
    file = file_of(client)
    file.parent.mkdir(parents=True)
    before = {"theme": "dark", "hooks": OTHERS[client]}
    file.write_text(json.dumps(before))
    for _ in range(2):
        assert run(["connect", client, "--hooks"]) == 0
    hooks = json.loads(file.read_text())["hooks"]
    for event in HOOK_CLIENTS[client].events:
        ours = [group for group in hooks[event] if f" hook {client} {event}" in json.dumps(group)]
        assert len(ours) == 1
    for event, groups in OTHERS[client].items():
        assert groups[0] in hooks[event]
    assert run(["connect", client, "--hooks", "--remove"]) == 0
    after = json.loads(file.read_text())
    after.pop("version", None)  # Cursor wants it
    assert after == before


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("client", HOOK_FILES)
def test_a_file_that_is_not_there_is_made_and_the_command_runs(client: str) -> None:
    assert run(["connect", client, "--hooks", "--scope", "project"]) == 0
    file = HOOK_FILES[client].path(Folders.here(), shared=True)
    event, [group] = next(iter(json.loads(file.read_text())["hooks"].items()))
    command = (group["hooks"][0] if "hooks" in group else group)["command"]
    assert len(command) < 200
    done = subprocess.run(shlex.split(command), input="", capture_output=True, text=True, timeout=60, check=False)
    assert (event in HOOK_CLIENTS[client].events, done.returncode, done.stdout, done.stderr) == (True, 0, "", "")


@pytest.mark.usefixtures("home")
def test_doctor_runs_installed_hooks_and_names_a_broken_one() -> None:
    assert run(["connect", "claude-code", "--hooks"]) == 0
    sound = CheckRun()
    check_hooks(sound)
    [(name, result)] = [(one.check, one.result) for one in sound.findings]
    assert (name, result) == ("hooks of claude-code", Result.OK)
    file = file_of("claude-code")
    file.write_text(file.read_text().replace("hook claude-code SessionStart", "no-such hook claude-code SessionStart"))
    broken = CheckRun()
    check_hooks(broken)
    assert broken.failed


@pytest.mark.usefixtures("home")
def test_what_is_written_can_be_looked_at_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["connect", "claude-code", "--hooks", "--print"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert set(shown["hooks"]) == set(HOOK_CLIENTS["claude-code"].events)
    assert not file_of("claude-code").exists()


@pytest.mark.usefixtures("home")
def test_a_client_without_hooks_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["connect", "zed", "--hooks"]) == 2
    assert "Nur has no hooks for zed" in capsys.readouterr().err


@pytest.mark.usefixtures("home")
def test_a_file_written_otherwise_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    file = file_of("codex")
    file.parent.mkdir(parents=True)
    file.write_text('{"hooks": "none"}')
    assert run(["connect", "codex", "--hooks"]) == 2
    assert "Nothing was changed" in capsys.readouterr().err
    assert file.read_text() == '{"hooks": "none"}'
