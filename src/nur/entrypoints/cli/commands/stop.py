"""nur stop."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import click

from nur.adapters.sql.folder import owner
from nur.domain.errors import NurError
from nur.entrypoints.cli.client import data_dir_option
from nur.entrypoints.cli.running import facts
from nur.settings import load

if TYPE_CHECKING:
    from pathlib import Path

#: A server answers its calls in flight and leaves within ten seconds.
WAIT_SECONDS = 30.0
_POLL_SECONDS = 0.1


@click.command()
@data_dir_option
def command(data_dir: str | None) -> None:
    """Stop the data folder's server: calls in flight are answered first. Does nothing when none runs."""
    folder = load(**({"nur_data_dir": data_dir} if data_dir else {})).nur_data_dir
    pid = _server(folder)
    if pid is None:
        click.echo(f"No server runs for {folder}.")
        return
    try:
        os.kill(pid, signal.SIGTERM)
    except PermissionError as error:
        raise NurError(f"Process {pid} belongs to another user, who must stop it.") from error
    except ProcessLookupError:
        pass  # it has just left
    _wait(folder, pid)
    click.echo(f"The server of {folder} (process {pid}) has stopped.")


def _server(folder: Path) -> int | None:
    """The server's process: only the owner of the folder's lock, since a process id may belong to another program."""
    holder, found = owner(folder), facts(folder)
    if holder is None:
        return None
    if found is None:
        raise NurError(f"Process {holder} has {folder}, but it is no server, or one that is starting. Try again.")
    if holder != found.pid:
        raise NurError(f"Process {holder} has {folder}, but server.json names {found.pid}. Nothing was stopped.")
    return holder


def _wait(folder: Path, pid: int) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while owner(folder) == pid:
        if time.monotonic() > deadline:
            raise NurError(f"Process {pid} has not stopped within {WAIT_SECONDS:.0f} s. nur logs may show why.")
        time.sleep(_POLL_SECONDS)
