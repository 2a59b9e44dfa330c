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
from nur.entrypoints.cli.running import recorded_server
from nur.settings import load

if TYPE_CHECKING:
    from pathlib import Path

#: A server answers its calls in flight and exits within ten seconds.
WAIT_SECONDS = 30.0
_POLL_SECONDS = 0.1


@click.command()
@data_dir_option
def command(data_dir: str | None) -> None:
    """Stop the data folder's server, after it has answered the calls in flight. Does nothing if no server runs."""
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
        pass  # it has just exited
    _wait(folder, pid)
    click.echo(f"The server of {folder} (process {pid}) has stopped.")


def _server(folder: Path) -> int | None:
    """Process id of the server, or None. It must own the folder's lock: a recorded id may belong to another program."""
    lock_owner, server = owner(folder), recorded_server(folder)
    if lock_owner is None:
        return None
    if server is None:
        raise NurError(f"Process {lock_owner} uses {folder}, but it is not a server, or is still starting. Try again.")
    if lock_owner != server.pid:
        raise NurError(f"Process {lock_owner} uses {folder}, but server.json names {server.pid}. Nothing was stopped.")
    return lock_owner


def _wait(folder: Path, pid: int) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while owner(folder) == pid:
        if time.monotonic() > deadline:
            raise NurError(f"Process {pid} did not stop within {WAIT_SECONDS:.0f} s. nur logs may show why.")
        time.sleep(_POLL_SECONDS)
