"""Install, remove and check Nur's hooks in a client's configuration."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nur.diagnostics.findings import CheckFailed
from nur.domain.errors import BadConfiguration, NurError
from nur.entrypoints.cli.clients import jsonc
from nur.entrypoints.cli.clients.config_file import ConfigFile
from nur.entrypoints.cli.clients.table import Folders
from nur.entrypoints.hooks.payloads import HOOK_CLIENTS, KEEP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nur.diagnostics.findings import CheckRun


KEY = "hooks"

MAX_SECONDS = 10.0
REINSTALL = "Install them again: nur connect {client} --hooks. The reason is in hooks.log in the data folder."


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFile:
    """Where a client keeps its hooks, and their format."""

    user: str
    project: str
    timeout: int  #: in the client's own unit; a hook takes at most 1.5 seconds
    is_nested: bool = True  #: each event has groups of hooks
    extra_entries: Mapping[str, Any] = field(default_factory=dict)  #: other entries that the file must have

    def path(self, folders: Folders, *, shared: bool) -> Path:
        """The user's file, or the project's if `shared`."""
        return folders.project / self.project if shared else folders.path(self.user)

    def group(self, command: str) -> dict[str, Any]:
        """Hook entry that runs this command."""
        if not self.is_nested:
            return {"command": command, "timeout": self.timeout}
        return {"hooks": [{"type": "command", "command": command, "timeout": self.timeout}]}


HOOK_FILES = {
    "claude-code": HookFile(user="{home}/.claude/settings.json", project=".claude/settings.local.json", timeout=5),
    "codex": HookFile(user="{home}/.codex/hooks.json", project=".codex/hooks.json", timeout=5),
    "gemini": HookFile(user="{home}/.gemini/settings.json", project=".gemini/settings.json", timeout=5_000),
    "cursor": HookFile(
        user="{home}/.cursor/hooks.json",
        project=".cursor/hooks.json",
        timeout=5,
        is_nested=False,
        extra_entries={"version": 1},
    ),
}


def hook_file(client: str) -> HookFile:
    """Hook file of a client. Raises BadConfiguration if Nur has no hooks for this client."""
    if client not in HOOK_FILES:
        raise BadConfiguration(f"Nur has no hooks for {client}, only for {', '.join(HOOK_FILES)}.")
    return HOOK_FILES[client]


def hooks_for(client: str, program: Sequence[str], options: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Nur's hooks by event; `options` are appended to each command."""
    return {
        event: [HOOK_FILES[client].group(_joined([*program, "hook", client, event, *options]))]
        for event in HOOK_CLIENTS[client].events
    }


def install(client: str, file: ConfigFile, hooks: Mapping[str, list[dict[str, Any]]]) -> tuple[bool, Path | None]:
    """Add Nur's hooks to the existing ones; returns whether the file changed, and its backup."""
    existing = _existing(file)
    others = _without_ours(client, existing)
    merged = {**others, **{event: [*others.get(event, []), *groups] for event, groups in hooks.items()}}
    if merged == existing:
        return False, None
    backup = file.set([KEY], merged)
    for name, value in HOOK_FILES[client].extra_entries.items():
        changed = ConfigFile(file.path, jsonc)
        if changed.entry([name]) is None:
            changed.set([name], value)
    return True, backup


def remove(client: str, file: ConfigFile) -> tuple[bool, Path | None]:
    """Remove Nur's hooks; returns whether the file changed, and its backup."""
    existing = _existing(file)
    others = _without_ours(client, existing)
    if others == existing:
        return False, None
    return True, file.set([KEY], others) if others else file.remove([KEY])


def installed(client: str, file: ConfigFile) -> dict[str, str]:
    """Commands of Nur's hooks, by event."""
    return {
        event: command
        for event, groups in _existing(file).items()
        for group in groups
        for command in _commands(group)
        if _is_ours(client, command)
    }


def _existing(file: ConfigFile) -> dict[str, list[Any]]:
    hooks = file.entry([KEY]) or {}
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise BadConfiguration(f"{file.path}: {KEY} is not an object of lists, one per event. Nothing was changed.")
    return hooks


def _without_ours(client: str, hooks: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    kept = {
        event: [group for group in groups if not any(_is_ours(client, command) for command in _commands(group))]
        for event, groups in hooks.items()
    }
    return {event: groups for event, groups in kept.items() if groups or not hooks[event]}


def _commands(group: Any) -> list[str]:
    inner = group.get("hooks", [group]) if isinstance(group, dict) else []
    return [str(one.get("command", "")) for one in inner if isinstance(one, dict)]


def _is_ours(client: str, command: str) -> bool:
    return "nur" in command and f" hook {client} " in command


def _joined(command: Sequence[str]) -> str:
    return subprocess.list2cmdline(command) if sys.platform == "win32" else shlex.join(command)


def check_hooks(checks: CheckRun) -> None:
    """Run the installed hooks of each client with a sample event. Nothing is stored: its prompt is too short."""
    folders = Folders.here()
    for client, known in HOOK_FILES.items():
        for shared in (False, True):
            path = known.path(folders, shared=shared)
            if path.exists():
                _check_client(checks, client, path)


def _check_client(checks: CheckRun, client: str, path: Path) -> None:
    try:
        commands = installed(client, ConfigFile(path, jsonc))
    except NurError:
        return  # an unreadable client file is not a fault of the hooks
    if not commands:
        return
    with checks.check(f"hooks of {client}") as details:
        for event, command in commands.items():
            if HOOK_CLIENTS[client].events.get(event) != KEEP:  # a KEEP hook would store the sample
                details.append(_run(client, event, command))
        missing = [event for event in HOOK_CLIENTS[client].events if event not in commands]
        if missing:
            raise CheckFailed(f"{path} lacks {', '.join(missing)}", REINSTALL.format(client=client))


def _run(client: str, event: str, command: str) -> str:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        sample = json.dumps({"session_id": "doctor", "cwd": folder, "hook_event_name": event, "prompt": "hello"})
        try:
            done = subprocess.run(  # noqa: S603  # our own program, as the client's file names it
                command if sys.platform == "win32" else shlex.split(command),
                input=sample,
                capture_output=True,
                text=True,
                timeout=MAX_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CheckFailed(f"{event}: {type(error).__name__}", REINSTALL.format(client=client)) from error
    if done.returncode or done.stderr:
        raise CheckFailed(f"{event}: exit code {done.returncode}", REINSTALL.format(client=client))
    return f"{event} {1000 * (time.monotonic() - started):.0f} ms, {len(done.stdout)} characters"
