"""nur worker."""

from __future__ import annotations

import asyncio

import click

from nur import settings as configuration
from nur.observability import events


@click.command()
@click.option("--data-dir", type=click.Path(file_okay=False), help="Folder for this worker's own files (NUR_DATA_DIR).")
@click.option("--quiet", is_flag=True, help="Do not print when the worker is ready.")
def command(data_dir: str | None, quiet: bool) -> None:
    """Do the background work of servers that share a PostgreSQL store: embedding, indexing, expiry.

    Run as many workers as you like. Servers do this work, too; workers take load off them.
    """
    settings = configuration.load(**({} if data_dir is None else {"nur_data_dir": data_dir}))
    events.configure(settings.log_level, settings.log_format)
    from nur.entrypoints.worker import work

    asyncio.run(work(settings, announce=None if quiet else click.echo))
