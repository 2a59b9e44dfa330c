"""The supervisors: one row each."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.entrypoints.cli.supervisors.files import LABEL, SupervisedServer, launchd_list, systemd_unit, windows_task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.entrypoints.cli.clients.table import Folders


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisor:
    """Starts the server at login and again when it fails. Commands have {file} and {domain} in them."""

    title: str
    file: str
    render: Callable[[SupervisedServer], bytes]
    encoding: str = "utf-8"
    takes_env: bool = True
    install: Sequence[str]  #: after the file is written; one that starts with - may fail
    uninstall: Sequence[str]  #: before the file is deleted
    afterwards: Sequence[str] = ()  #: when it is deleted
    status: str  #: exits with 0 where the server runs
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
        hint="It runs while you are logged in. To let it run without: loginctl enable-linger",
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
    """The steps as commands to run, each with whether it may fail."""
    names = {
        "file": str(folders.path(supervisor.file)),
        "domain": f"gui/{os.getuid()}" if hasattr(os, "getuid") else "",
    }
    split = ([word.format(**names) for word in step.removeprefix("-").split()] for step in steps)
    return [(step.startswith("-"), words) for step, words in zip(steps, split, strict=True)]
