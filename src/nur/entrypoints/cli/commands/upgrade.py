"""nur upgrade."""

from __future__ import annotations

import click

from nur import bootstrap
from nur.settings import load


@click.command()
def command() -> None:
    """Finish a change of the tables in PostgreSQL, once every server and worker runs the new version.

    Servers only add to the tables, so that older ones go on beside them. What nobody uses any more is taken away here.
    Refused while a server or worker of an older version is connected.
    """
    changed = bootstrap.finish_upgrade(load())
    click.echo("Done: the tables are those of this version." if changed else "Nothing to do.")
