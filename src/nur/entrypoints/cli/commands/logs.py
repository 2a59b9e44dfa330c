"""nur logs."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

import click

from nur.domain.errors import NotFound
from nur.entrypoints.cli.client import data_dir_option
from nur.entrypoints.cli.render import harmless
from nur.entrypoints.cli.running import LOG
from nur.settings import load

if TYPE_CHECKING:
    from pathlib import Path

_POLL_SECONDS = 0.3


@click.command()
@click.option("--lines", type=click.IntRange(min=0), default=50, show_default=True, help="How many of the last lines.")
@click.option("--follow", is_flag=True, help="Go on with new lines until Ctrl-C.")
@data_dir_option
def command(lines: int, follow: bool, data_dir: str | None) -> None:
    """Show the last lines of the server's log, and where it is.

    A server that a client or the service started logs to a file. One that runs in a terminal logs to the terminal.
    """
    folder = load(**({"nur_data_dir": data_dir} if data_dir else {})).nur_data_dir
    path = folder / LOG
    if not path.exists():
        raise NotFound(
            f"There is no {path}: a server writes it when a client or nur service started it. "
            "nur serve logs to its terminal."
        )
    click.echo(f"Log: {path}", err=True)
    with path.open("rb") as file:
        for line in deque(file, maxlen=lines):
            _echo(line)
        read = file.tell()
    if follow:
        _follow(path, read)


def _follow(path: Path, read: int) -> None:
    """Print what is added. A file that is shorter than what was read is a new one."""
    while True:
        with path.open("rb") as file:
            file.seek(read if path.stat().st_size >= read else 0)
            while (line := file.readline()).endswith(b"\n"):  # else it is not written to its end yet
                _echo(line)
                read = file.tell()
        time.sleep(_POLL_SECONDS)


def _echo(line: bytes) -> None:
    click.echo(harmless(line.decode(errors="replace").rstrip("\r\n")))
