"""Table of the supervisors, one per platform, with the service file that each reads."""

from __future__ import annotations

import os
import plistlib
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from nur.entrypoints.cli.clients.table import Folders


LABEL = "nur-memory"

# No restart after exit codes 2 and 4: a person must correct a setting or the store. Restart after code 3: the folder
# becomes free when the server that a client started exits.
_SYSTEMD = """\
[Unit]
Description=Nur, memory for AI agents

[Service]
ExecStart={command}
{env}StandardOutput=append:{log}
StandardError=append:{log}
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2 4
TimeoutStopSec=15

[Install]
WantedBy=default.target
"""

_WINDOWS = """\
<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>Nur, memory for AI agents</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Hidden>true</Hidden>
    <RestartOnFailure><Interval>PT1M</Interval><Count>255</Count></RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>{command}</Command>
      <Arguments>{arguments}</Arguments>
    </Exec>
  </Actions>
</Task>
"""


@dataclass(frozen=True, slots=True)
class SupervisedServer:
    """The server that a supervisor keeps running."""

    command: Sequence[str]
    env: Mapping[str, str]
    log: Path


def systemd_unit(job: SupervisedServer) -> bytes:
    """A unit for `systemctl --user`."""
    command = " ".join(_quoted(word).replace("$", "$$") for word in job.command)
    env = "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in job.env.items())
    return _SYSTEMD.format(command=command, env=env, log=_percent(str(job.log))).encode()


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{_percent(escaped)}"'


def _percent(text: str) -> str:
    """Escape %: it starts a specifier."""
    return text.replace("%", "%%")


def launchd_list(job: SupervisedServer) -> bytes:
    """A property list for `launchctl`."""
    return plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": list(job.command),
            "EnvironmentVariables": dict(job.env),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 10,
            "ProcessType": "Background",
            "StandardOutPath": str(job.log),
            "StandardErrorPath": str(job.log),
        },
        sort_keys=False,
    )


def windows_task(job: SupervisedServer) -> bytes:
    """A task for `schtasks`, which needs UTF-16. A task cannot set variables: it has the user's environment."""
    arguments = subprocess.list2cmdline(list(job.command[1:]))
    return _WINDOWS.format(command=escape(job.command[0]), arguments=escape(arguments)).encode("utf-16")


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisor:
    """Starts the server at login and restarts it when it fails. Commands may contain {file} and {domain}."""

    title: str
    file: str
    render: Callable[[SupervisedServer], bytes]
    encoding: str = "utf-8"
    takes_env: bool = True
    install: Sequence[str]  #: run after the file is written; a command that starts with - may fail
    uninstall: Sequence[str]  #: run before the file is deleted
    afterwards: Sequence[str] = ()  #: run after the file is deleted
    status: str  #: exits with 0 if the server runs
    hint: str = ""


SUPERVISORS = {
    "linux": Supervisor(
        title="systemd",
        file="{config}/systemd/user/nur.service",
        render=systemd_unit,
        install=(
            "systemctl --user daemon-reload",
            "systemctl --user enable nur.service",
            "systemctl --user restart nur.service",
        ),
        uninstall=("-systemctl --user disable --now nur.service",),
        afterwards=("systemctl --user daemon-reload",),
        status="systemctl --user is-active nur.service",
        hint="It runs while you are logged in. To keep it running after logout: loginctl enable-linger",
    ),
    "darwin": Supervisor(
        title="launchd",
        file=f"{{home}}/Library/LaunchAgents/{LABEL}.plist",
        render=launchd_list,
        install=(f"-launchctl bootout {{domain}}/{LABEL}", "launchctl bootstrap {domain} {file}"),
        uninstall=(f"-launchctl bootout {{domain}}/{LABEL}",),
        status=f"launchctl print {{domain}}/{LABEL}",
    ),
    "win32": Supervisor(
        title="Task Scheduler",
        file="{config}/nur/service.xml",
        render=windows_task,
        encoding="utf-16",
        takes_env=False,
        install=(f"schtasks /Create /F /TN {LABEL} /XML {{file}}", f"schtasks /Run /TN {LABEL}"),
        uninstall=(f"-schtasks /End /TN {LABEL}", f"-schtasks /Delete /F /TN {LABEL}"),
        status=f"schtasks /Query /TN {LABEL}",
    ),
}


def commands(supervisor: Supervisor, steps: Sequence[str], folders: Folders) -> list[tuple[bool, list[str]]]:
    """Split the steps into commands; each comes with whether it may fail."""
    values = {
        "file": str(folders.path(supervisor.file)),
        "domain": f"gui/{os.getuid()}" if hasattr(os, "getuid") else "",
    }
    split = ([word.format(**values) for word in step.removeprefix("-").split()] for step in steps)
    return [(step.startswith("-"), words) for step, words in zip(steps, split, strict=True)]
