"""`nur service`: what is installed, which commands are run, and that what is installed is a server."""

from __future__ import annotations

import json
import plistlib
import shlex
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from nur.entrypoints.cli.app import run
from nur.entrypoints.cli.supervisors.table import SupervisedServer, launchd_list, systemd_unit, windows_task
from tests.servers.nur_server import START_SECONDS, clean_environment

if TYPE_CHECKING:
    from collections.abc import Callable

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="systemd runs on Linux")
FAKE = """#!/bin/sh
echo "$@" >> {calls}
if [ "$2" = "$(cat {failing} 2>/dev/null)" ]; then echo "Failed to connect to bus" >&2; exit 1; fi
"""


class Systemctl:
    """A program that writes down how it was called, and fails at one verb."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._calls, self._failing = folder / "calls", folder / "failing"
        program = folder / "systemctl"
        program.write_text(FAKE.format(calls=self._calls, failing=self._failing))
        program.chmod(0o755)

    def calls(self) -> list[str]:
        return self._calls.read_text().splitlines() if self._calls.exists() else []

    def fail_at(self, verb: str) -> None:
        self._failing.write_text(verb)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("home", "bin", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin")
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path / "home"


@pytest.fixture
def without_systemctl(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(home.parent / "bin"))


@pytest.fixture
def systemctl(home: Path) -> Systemctl:
    return Systemctl(home.parent / "bin")


@pytest.fixture
def nur(home: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def call(*arguments: str, code: int = 0) -> str:
        left = run(["service", *arguments])
        printed = capsys.readouterr()
        assert left == code, printed
        return printed.out + printed.err

    return call


def unit_of(home: Path) -> Path:
    return home / ".config/systemd/user/nur.service"


@linux_only
def test_the_unit_is_written_enabled_and_started(home: Path, systemctl: Systemctl, nur: Callable[..., str]) -> None:
    told = nur("install")
    unit = unit_of(home)
    assert str(unit) in told
    assert systemctl.calls() == [
        "--user daemon-reload",
        "--user enable nur.service",
        "--user restart nur.service",
    ]
    assert unit.read_text() == nur("install", "--print")
    assert stat.S_IMODE(unit.stat().st_mode) == 0o600
    assert f'"--data-dir" "{home.parent / "data"}"' in unit.read_text()
    assert "installed" in nur("status")

    nur("install")
    assert len(systemctl.calls()) == 7  # status, and the three steps again


@linux_only
def test_settings_of_the_environment_and_the_configuration_file_come_along(
    home: Path, systemctl: Systemctl, nur: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("nur.toml").write_text("mcp_port = 3100\n")
    monkeypatch.setenv("OPENAI_API_KEY", 'sk-100%"x"')
    nur("install")
    lines = unit_of(home).read_text().splitlines()
    assert 'Environment="OPENAI_API_KEY=sk-100%%\\"x\\""' in lines
    assert f'Environment="NUR_CONFIG={Path.cwd() / "nur.toml"}"' in lines
    assert not [line for line in lines if "NUR_DATA_DIR" in line]  # it is an argument


@linux_only
@pytest.mark.usefixtures("without_systemctl")
def test_without_systemctl_the_commands_are_printed(home: Path, nur: Callable[..., str]) -> None:
    told = nur("install")
    assert "There is no systemctl here" in told
    assert "  systemctl --user enable nur.service" in told.splitlines()
    assert unit_of(home).exists()
    assert "unknown" in nur("status", code=1)
    nur("uninstall")
    assert not unit_of(home).exists()


@linux_only
def test_what_systemctl_says_is_told(systemctl: Systemctl, nur: Callable[..., str]) -> None:
    systemctl.fail_at("enable")
    assert nur("install", code=1).endswith(
        "nur: systemctl --user enable nur.service failed: Failed to connect to bus\n"
    )
    systemctl.fail_at("is-active")
    assert "not running" in nur("status", code=1)


@linux_only
def test_the_service_is_taken_out_again(home: Path, systemctl: Systemctl, nur: Callable[..., str]) -> None:
    assert "No service is installed" in nur("status", code=1)
    assert "No service is installed" in nur("uninstall")
    assert systemctl.calls() == []
    nur("install")
    systemctl.fail_at("disable")  # it may have been disabled by hand
    assert "Stored notes are kept" in nur("uninstall")
    assert systemctl.calls()[3:] == ["--user disable --now nur.service", "--user daemon-reload"]
    assert not unit_of(home).exists()
    assert (home.parent / "data").exists()


@linux_only
def test_what_the_unit_runs_is_a_server_that_status_logs_and_stop_know(
    home: Path,
    tmp_path: Path,
    nur: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MCP_PORT", "0")
    unit = nur("install", "--print")
    entries = [line.split("=", 1) for line in unit.splitlines() if "=" in line]
    command = shlex.split(dict(entries)["ExecStart"])
    env = dict(shlex.split(value)[0].split("=", 1) for name, value in entries if name == "Environment")
    log = Path(dict(entries)["StandardError"].removeprefix("append:"))
    with log.open("ab") as errors:
        process = subprocess.Popen(command, stderr=errors, env={**clean_environment(tmp_path), **env})
    deadline = time.monotonic() + START_SECONDS
    while run(["status"]) != 0:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline
        time.sleep(0.2)
    capsys.readouterr()
    assert run(["logs"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["service"] == "mcp-memory"
    assert run(["stop"]) == 0
    assert process.wait(30) == 0


JOB = SupervisedServer(
    ["/opt/a b/nur", "serve", "--data-dir", "/d & e"], {"OPENAI_API_KEY": "sk-<1>"}, Path("/d & e/server.log")
)


def test_launchd_starts_it_at_login_and_again_when_it_fails() -> None:
    found = plistlib.loads(launchd_list(JOB))
    assert found["ProgramArguments"] == list(JOB.command)
    assert found["EnvironmentVariables"] == JOB.env
    assert found["StandardErrorPath"] == "/d & e/server.log"
    assert (found["RunAtLoad"], found["KeepAlive"]) == (True, {"SuccessfulExit": False})


def test_windows_starts_it_at_logon_and_never_ends_it() -> None:
    task = ElementTree.fromstring(windows_task(JOB).decode("utf-16").split("?>", 1)[1])
    space = {"t": "http://schemas.microsoft.com/windows/2004/02/mit/task"}
    assert task.findtext(".//t:Command", namespaces=space) == "/opt/a b/nur"
    assert task.findtext(".//t:Arguments", namespaces=space) == 'serve --data-dir "/d & e"'
    assert task.findtext(".//t:ExecutionTimeLimit", namespaces=space) == "PT0S"
    assert task.find(".//t:LogonTrigger", space) is not None


def test_systemd_gets_words_that_it_reads_as_they_are() -> None:
    unit = systemd_unit(SupervisedServer(["/opt/n%r", 'a"b', "c\\d", "$HOME"], {}, Path("/50%/log"))).decode()
    assert 'ExecStart="/opt/n%%r" "a\\"b" "c\\\\d" "$$HOME"\n' in unit
    assert "StandardError=append:/50%%/log\n" in unit
