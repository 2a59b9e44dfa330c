"""nur hook."""

from __future__ import annotations

import click

from nur.entrypoints.cli.client import data_dir_option
from nur.entrypoints.hooks.payloads import HOOK_CLIENTS
from nur.entrypoints.hooks.run import main


@click.command()
@click.argument("client", type=click.Choice(list(HOOK_CLIENTS)))
@click.argument("event")
@data_dir_option
def command(client: str, event: str, data_dir: str | None) -> None:
    """Handle one event of a client's session: nur connect CLIENT --hooks writes this into its configuration.

    Reads the event as JSON from standard input and prints what the client shows the model. Whatever goes wrong, it
    prints nothing and ends with exit code 0; hooks.log in the data folder has the reason.
    """
    main([client, event, *(["--data-dir", data_dir] if data_dir else [])])
