"""nur stdio."""

from __future__ import annotations

import io
import sys
from functools import partial
from pathlib import Path

import click

from nur.entrypoints.hooks.run import project_of
from nur.entrypoints.stdio.locate import locate
from nur.entrypoints.stdio.relay import Relay
from nur.settings import load

AUTO = "auto"  #: value of NUR_PROJECT: use the name of the repository that the client works in


@click.command()
@click.option("--data-dir", type=click.Path(file_okay=False), help="Folder that holds the store (NUR_DATA_DIR).")
def command(data_dir: str | None) -> None:
    """Speak MCP on standard input and output, for clients that start their servers.

    Relays messages to the data folder's running server. If none runs, it starts one, which exits after 15 idle minutes.
    """
    settings = load(**({"nur_data_dir": data_dir} if data_dir else {}))
    project = project_of(Path.cwd()) if settings.nur_project == AUTO else settings.nur_project
    relay = Relay(partial(locate, settings.nur_data_dir), _write, project)
    relay.run(io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8"))


def _write(line: str) -> None:
    sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()
