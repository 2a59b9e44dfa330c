"""nur service."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import click
from rich.table import Table
from rich.text import Text

from nur.domain.errors import BadConfiguration, NurError
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option
from nur.entrypoints.cli.clients.entry import program
from nur.entrypoints.cli.clients.table import Folders
from nur.entrypoints.cli.running import LOG
from nur.entrypoints.cli.supervisors.table import SUPERVISORS, SupervisedServer, Supervisor, commands
from nur.entrypoints.stdio.locate import running_server
from nur.settings import from_environment, load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

COMMAND_SECONDS = 60
NOT_RUNNING = 1


@click.group()
def command() -> None:
    """Keep the server running: start it at login, and restart it when it fails."""


@command.command()
@click.option("--print", "only_print", is_flag=True, help="Print the service file instead of installing it.")
@data_dir_option
def install(only_print: bool, data_dir: str | None) -> None:
    """Install or update the service, and start it.

    The service gets the settings of the current environment; nur.toml is read at each start.
    """
    supervisor, folders = _supervisor(), Folders.here()
    folder = load(**({"nur_data_dir": data_dir} if data_dir else {})).nur_data_dir.absolute()
    env = {name: value for name, value in from_environment().items() if name != "NUR_DATA_DIR"}
    if env and not supervisor.takes_env:
        names = ", ".join(sorted(env))
        click.echo(f"The task runs with your user's environment: set {names} there.", err=True)
    job = SupervisedServer([*program(), "serve", "--quiet", "--data-dir", str(folder)], env, folder / LOG)
    content = supervisor.render(job)
    if only_print:
        click.echo(content.decode(supervisor.encoding), nl=False)
        return
    file = folders.path(supervisor.file)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # systemd does not create the log's folder
    _write(file, content)
    click.echo(f"{supervisor.title} starts the server at login, and restarts it when it fails: {file}")
    if running_server(folder) is not None:
        click.echo("A server of this data folder is already running. The service takes over when it stops: nur stop")
    if _run(supervisor, supervisor.install, folders):
        click.echo("To see whether it answers: nur status" + (f"\n{supervisor.hint}" if supervisor.hint else ""))


@command.command()
def uninstall() -> None:
    """Stop and remove the service. Stored notes are kept."""
    supervisor, folders = _supervisor(), Folders.here()
    file = folders.path(supervisor.file)
    if not file.exists():
        click.echo(f"No service is installed: there is no {file}")
        return
    _run(supervisor, supervisor.uninstall, folders)
    file.unlink()
    _run(supervisor, supervisor.afterwards, folders)
    click.echo(f"The service is uninstalled: {file} was deleted. Stored notes are kept.")


@command.command()
@click.pass_context
def status(ctx: click.Context) -> None:
    """Show whether the service is installed and running. Exit code 0: it runs; 1: it does not."""
    supervisor, folders = _supervisor(), Folders.here()
    file = folders.path(supervisor.file)
    if not file.exists():
        click.echo("No service is installed. Install it: nur service install")
        ctx.exit(NOT_RUNNING)
    ((_, words),) = commands(supervisor, [supervisor.status], folders)
    if shutil.which(words[0]) is None:
        state = f"unknown: there is no {words[0]} here"
    else:
        state = "not running" if _call(words).returncode else "running"
    shown = Table(box=None, pad_edge=False, show_header=False)
    shown.add_row("installed", Text(str(file)))
    shown.add_row("state", state)
    render.table(shown)
    ctx.exit(0 if state == "running" else NOT_RUNNING)


def _supervisor() -> Supervisor:
    platform = next((name for name in SUPERVISORS if sys.platform.startswith(name)), None)
    if platform is None:
        raise BadConfiguration(f"nur service does not support {sys.platform}: let its own supervisor run nur serve.")
    return SUPERVISORS[platform]


def _write(file: Path, content: bytes) -> None:
    """Write a file that only its owner can read: its settings may include keys."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.chmod(0o600)
        file.write_bytes(content)
    except OSError as error:
        raise BadConfiguration(f"{file} cannot be written ({error.strerror}).") from error


def _run(supervisor: Supervisor, steps: Sequence[str], folders: Folders) -> bool:
    """Run the steps; if their program is missing, print them instead. Raises NurError if a step fails."""
    todo = commands(supervisor, steps, folders)
    if todo and shutil.which(todo[0][1][0]) is None:
        click.echo(f"There is no {todo[0][1][0]} here. Where it is available, run:")
        for _, words in todo:
            click.echo(f"  {shlex.join(words)}")
        return False
    for may_fail, words in todo:
        done = _call(words)
        if done.returncode and not may_fail:
            reason = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
            raise NurError(f"{shlex.join(words)} failed: {reason}")
    return True


def _call(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  # a row of the table
        list(words), capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False
    )
