"""nur serve."""

from __future__ import annotations

import asyncio

import click

from nur import settings as configuration
from nur.observability import events


@click.command()
@click.option("--host", help="Address to listen on (NUR_BIND).")
@click.option("--port", type=int, help="Port to listen on (MCP_PORT); 0 picks a free one.")
@click.option("--data-dir", type=click.Path(file_okay=False), help="Folder that holds the store (NUR_DATA_DIR).")
@click.option("--quiet", is_flag=True, help="Do not print where the server listens.")
def command(host: str | None, port: int | None, data_dir: str | None, quiet: bool) -> None:
    """Run the server: web page at /, MCP at /mcp, REST at /v2, health at /health.

    Without any settings it uses a SQLite store in your data folder and a local embedding model, and needs no key.
    """
    options = {"nur_bind": host, "mcp_port": port, "nur_data_dir": data_dir}
    settings = configuration.load(**{name: value for name, value in options.items() if value is not None})
    events.configure(settings.log_level, settings.log_format)
    from nur.entrypoints.http.serving import serve

    asyncio.run(serve(settings, announce=None if quiet else click.echo))
