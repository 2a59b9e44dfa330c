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
@click.option("--lines", type=click.IntRange(min=0), default=50, show_default=True, help="Number of lines to show.")
@click.option("--follow", is_flag=True, help="Keep printing new lines, until Ctrl-C.")
@data_dir_option
def command(lines: int, follow: bool, data_dir: str | None) -> None:
    """Show the last lines of the server's log, and its path.

    A server started by a client or by the service logs to a file; one in a terminal logs to the terminal.
    """
    folder = load(**({"nur_data_dir": data_dir} if data_dir else {})).nur_data_dir
    path = folder / LOG
    if not path.exists():
        raise NotFound(
            f"There is no {path}. Only a server started by a client or by nur service writes it; "
            "nur serve logs to its terminal."
        )
    click.echo(f"Log: {path}", err=True)
    with path.open("rb") as file:
        for line in deque(file, maxlen=lines):
            _echo(line)
        offset = file.tell()
    if follow:
        _follow(path, offset)


def _follow(path: Path, offset: int) -> None:
    """Print lines added after `offset`, for ever. A shorter file is a new one and is read from its start."""
    while True:
        with path.open("rb") as file:
            file.seek(offset if path.stat().st_size >= offset else 0)
            while (line := file.readline()).endswith(b"\n"):  # a line without it is still being written
                _echo(line)
                offset = file.tell()
        time.sleep(_POLL_SECONDS)


def _echo(line: bytes) -> None:
    click.echo(harmless(line.decode(errors="replace").rstrip("\r\n")))
