"""nur doctor."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from nur.diagnostics import findings, machine, smoke
from nur.diagnostics.findings import CheckRun, Result
from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.clients.hook_files import examine_hooks
from nur.entrypoints.stdio.locate import running

if TYPE_CHECKING:
    from nur.settings import Settings

NO_SERVER = "Start one: nur serve (in Docker: docker compose up -d), or name it with --url."


@click.command()
@click.option("--url", help="The server to examine, such as http://127.0.0.1:3000; else the data folder's own.")
@click.option("--token", help="Its token, where it wants one (NUR_TOKEN).")
@click.option("--data-dir", type=click.Path(file_okay=False), help="Folder that holds the store (NUR_DATA_DIR).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def command(ctx: click.Context, url: str | None, token: str | None, data_dir: str | None, as_json: bool) -> None:
    """Check this machine and a running server: the smoke test after a deployment.

    It stores a memory and two documents through MCP, finds them again, and erases them. Hooks that `nur connect
    --hooks` has written are run once with a sample. Exit code 1: a check failed.
    """
    examination = CheckRun()
    settings = machine.examine(examination, data_dir)
    address = _address(settings, url, token)
    if address is not None:
        whole_max_tokens = settings.single_piece_max_tokens if settings else 1200
        provider = asyncio.run(smoke.examine(examination, address, whole_max_tokens))
        if provider is not None and settings is not None:
            machine.hint_at_key(examination, settings, provider)
        examine_hooks(examination)
    elif settings is not None:
        examination.note("server", Result.FAILED, f"none runs for {settings.nur_data_dir}", NO_SERVER)
        machine.examine_store(examination, settings)
    click.echo(findings.as_json(examination)) if as_json else showing.table(findings.table(examination))
    ctx.exit(1 if examination.failed else 0)


def _address(settings: Settings | None, url: str | None, token: str | None) -> smoke.Address | None:
    """The server that was named, else the one in the data folder's `server.json`."""
    own = settings.nur_token.get_secret_value() if settings and settings.nur_token else None
    if url is not None:
        return smoke.Address(url.rstrip("/").removesuffix("/mcp"), token or own)
    found = running(settings.nur_data_dir) if settings else None
    return None if found is None else smoke.Address(f"http://{found.host}:{found.port}", token or found.token)
