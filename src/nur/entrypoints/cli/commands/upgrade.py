"""nur upgrade."""

from __future__ import annotations

import click

from nur import bootstrap
from nur.settings import load


@click.command()
def command() -> None:
    """Finish a schema change in PostgreSQL, once every server and worker runs the new version.

    A starting server only adds tables and columns, so that older servers keep working. This command removes what the
    new version no longer uses. Refused while a server or worker of an older version is connected.
    """
    changed = bootstrap.finish_upgrade(load())
    click.echo("Done: the schema is the one of this version." if changed else "Nothing to do.")
