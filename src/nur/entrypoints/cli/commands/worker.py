"""nur worker."""

from __future__ import annotations

import click

from nur.domain.errors import BadConfiguration
from nur.settings import load


@click.command()
def command() -> None:
    """Work off the outbox in a process of its own. Needs PostgreSQL; with SQLite `nur serve` does it.

    One process owns a SQLite data folder, and that is the server.
    """
    if load().database_url is None:
        raise BadConfiguration(
            "DATABASE_URL: nur worker needs PostgreSQL. With SQLite one process owns the data folder: "
            "nur serve works off the outbox itself."
        )
    raise BadConfiguration("DATABASE_URL: PostgreSQL is not supported by this version. Unset it to use SQLite.")
