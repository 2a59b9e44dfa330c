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
    """Handle one event of a client's session. Clients run it, once nur connect CLIENT --hooks has installed it.

    Reads the event as JSON from standard input and prints the text that the client passes to the model. On any error
    it prints nothing and exits with code 0, so that no prompt is blocked; hooks.log in the data folder has the reason.
    """
    main([client, event, *(["--data-dir", data_dir] if data_dir else [])])
