"""Run each installed hook once with a sample, as `nur doctor` does: what it prints, and how long it takes."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from nur.diagnostics.findings import CheckFailed
from nur.domain.errors import NurError
from nur.entrypoints.cli.clients import jsonc
from nur.entrypoints.cli.clients.config_file import ConfigFile
from nur.entrypoints.cli.clients.hook_files import HOOK_FILES, installed
from nur.entrypoints.cli.clients.table import Folders
from nur.entrypoints.hooks.payloads import HOOK_CLIENTS, KEEP

if TYPE_CHECKING:
    from pathlib import Path

    from nur.diagnostics.findings import CheckRun

MOST_SECONDS = 10.0
AGAIN = "Write them again: nur connect {client} --hooks. hooks.log in the data folder has reasons."


def examine_hooks(examination: CheckRun) -> None:
    """One line for each client that has Nur's hooks. Nothing is stored: the sample's prompt is short."""
    folders = Folders.here()
    for client, known in HOOK_FILES.items():
        for shared in (False, True):
            place = known.place(folders, shared=shared)
            if place.exists():
                _examine(examination, client, place)


def _examine(examination: CheckRun, client: str, place: Path) -> None:
    try:
        commands = installed(client, ConfigFile(place, jsonc))
    except NurError:
        return  # a file of theirs that we cannot read is not our hook's fault
    if not commands:
        return
    with examination.check(f"hooks of {client}") as seen:
        for event, command in commands.items():
            if HOOK_CLIENTS[client].events.get(event) != KEEP:  # those would store the sample
                seen.append(_run(client, event, command))
        missing = [event for event in HOOK_CLIENTS[client].events if event not in commands]
        if missing:
            raise CheckFailed(f"{place} lacks {', '.join(missing)}", AGAIN.format(client=client))


def _run(client: str, event: str, command: str) -> str:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        given = json.dumps({"session_id": "doctor", "cwd": folder, "hook_event_name": event, "prompt": "hello"})
        try:
            done = subprocess.run(  # noqa: S603  # our own program, as the client's file names it
                command if sys.platform == "win32" else shlex.split(command),
                input=given,
                capture_output=True,
                text=True,
                timeout=MOST_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CheckFailed(f"{event}: {type(error).__name__}", AGAIN.format(client=client)) from error
    if done.returncode or done.stderr:
        raise CheckFailed(f"{event}: exit code {done.returncode}", AGAIN.format(client=client))
    return f"{event} {1000 * (time.monotonic() - started):.0f} ms, {len(done.stdout)} characters"
