"""nur doctor."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from nur.diagnostics import findings, machine, smoke
from nur.diagnostics.findings import CheckRun, Result
from nur.entrypoints.cli import render
from nur.entrypoints.cli.clients.hook_files import check_hooks
from nur.entrypoints.stdio.locate import running_server

if TYPE_CHECKING:
    from nur.settings import Settings

NO_SERVER = "Start one: nur serve (in Docker: docker compose up -d), or name it with --url."


@click.command()
@click.option("--url", help="Server to check, such as http://127.0.0.1:3000. Default: the data folder's server.")
@click.option("--token", help="The server's token, if it has one (NUR_TOKEN).")
@click.option("--data-dir", type=click.Path(file_okay=False), help="Folder that holds the store (NUR_DATA_DIR).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def command(ctx: click.Context, url: str | None, token: str | None, data_dir: str | None, as_json: bool) -> None:
    """Check this machine and a running server: the smoke test after a deployment.

    Stores a memory and two documents over MCP, searches for them and erases them. Runs the hooks that `nur connect
    --hooks` installed once, with a sample event. Exit code 1: a check failed.
    """
    checks = CheckRun()
    settings = machine.examine(checks, data_dir)
    address = _address(settings, url, token)
    if address is not None:
        whole_max_tokens = settings.single_piece_max_tokens if settings else 1200
        provider = asyncio.run(smoke.examine(checks, address, whole_max_tokens))
        if provider is not None and settings is not None:
            machine.note_unused_key(checks, settings, provider)
        check_hooks(checks)
    elif settings is not None:
        checks.note("server", Result.FAILED, f"no server runs for {settings.nur_data_dir}", NO_SERVER)
        machine.check_stored_model(checks, settings)
    click.echo(findings.as_json(checks)) if as_json else render.table(findings.table(checks))
    ctx.exit(1 if checks.failed else 0)


def _address(settings: Settings | None, url: str | None, token: str | None) -> smoke.Address | None:
    """The server of --url, else the one in the data folder's `server.json`; None if neither exists."""
    configured = settings.nur_token.get_secret_value() if settings and settings.nur_token else None
    if url is not None:
        return smoke.Address(url.rstrip("/").removesuffix("/mcp"), token or configured)
    server = running_server(settings.nur_data_dir) if settings else None
    return None if server is None else smoke.Address(f"http://{server.host}:{server.port}", token or server.token)
