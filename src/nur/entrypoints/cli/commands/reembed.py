"""nur reembed."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from nur.domain.errors import BadRequest, NurError
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, open_store
from nur.entrypoints.stdio.locate import running_server
from nur.observability import events
from nur.settings import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.entrypoints.cli.client import Store
    from nur.settings import Settings

PATH = "/v2/admin/embedding"
POLL_SECONDS = 0.5


@click.command()
@click.option("--to", metavar="MODEL", help="The new model: models, local, openai, or provider:model:dimensions.")
@click.option("--purge-old", is_flag=True, help="Delete the vectors of all models but the store's. Cannot be undone.")
@click.option("--yes", is_flag=True, help="Do not ask before deleting vectors.")
@json_option
@data_dir_option
def command(to: str | None, purge_old: bool, yes: bool, as_json: bool, data_dir: str | None) -> None:
    """Embed everything with another model while the current one serves, then switch to it in one step.

    A running server does this in the background; without one, this process does it. An interrupted run continues where
    it stopped. The old vectors are kept, so that --to with the old model switches back, until --purge-old.
    """
    if to is None and not purge_old:
        raise BadRequest("Choose a model with --to, or delete old vectors with --purge-old.")
    settings = load(**({"nur_data_dir": data_dir} if data_dir else {}))
    events.configure("ERROR", settings.log_format)
    if to is not None:
        result = asyncio.run(_reembed(settings, to, quiet=as_json))
        render.as_json(result) if as_json else _show(result)
        if not result["switched"]:
            raise NurError(f"The model was not switched: {result['error']} Run the command again to continue.")
    if purge_old:
        if not yes:
            click.confirm("Delete the vectors of all models but the store's?", abort=True)
        for version, vectors in asyncio.run(_purge(settings)).items():
            click.echo(f"{vectors} vectors of {version} deleted", err=as_json)


async def _reembed(settings: Settings, to: str, *, quiet: bool) -> dict[str, Any]:
    """Embed everything with a model, show progress, and return the fields of `Reembedded`."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal, transient=True) as bars:
        bar = bars.add_task("chunks", total=None)

        def progress(done: int, total: int) -> None:
            bars.update(bar, completed=done, total=total or None)

        if await asyncio.to_thread(running_server, settings.nur_data_dir) is None:
            return await _reembed_here(settings, to, progress)
        async with open_store(settings) as store:
            return await _reembed_on_server(store, to, progress)


async def _reembed_here(settings: Settings, to: str, progress: Callable[[int, int], None]) -> dict[str, Any]:
    """Re-embed in this process, whatever model the settings name."""
    from nur.entrypoints.cli.reembedding import reembedding

    async with reembedding(settings, to) as (reembed, existing):
        return asdict(await reembed(existing, progress))


async def _reembed_on_server(store: Store, to: str, progress: Callable[[int, int], None]) -> dict[str, Any]:
    """Start the job on the server and wait until it has switched or failed."""
    status = await store.call("POST", PATH, {"to": to})
    before, target = status["embedding_version"], status["to_version"]
    while status["state"] in ("embedding", "switching"):
        await asyncio.sleep(POLL_SECONDS)
        status = await store.call("GET", PATH)
        progress(status["done"], status["total"])
    result = {"from_version": before, "to_version": target or before, "embedded": 0, "comparison": None}
    if status["embedding_version"] == target:
        result = dict(status["last"])
    return {**result, "switched": status["state"] != "failed", "error": status["error"]}


async def _purge(settings: Settings) -> dict[str, int]:
    async with open_store(settings) as store:
        forgotten: dict[str, int] = (await store.call("POST", f"{PATH}/purge"))["forgotten"]
        return forgotten


def _show(result: dict[str, Any]) -> None:
    if result["to_version"] == result["from_version"]:
        click.echo(f"The store's model is already {result['to_version']}.")
        return
    click.echo(f"{result['embedded']} chunks embedded with {result['to_version']}")
    if comparison := result["comparison"]:
        click.echo(
            f"{comparison['questions']} questions: {comparison['same_top']:.0%} of the ten best hits are the same as "
            f"before; {comparison['found_itself']:.0%} of the questions found the chunk they were taken from"
        )
    if result["switched"]:
        click.echo(f"The store's model is {result['to_version']}. To undo: nur reembed --to {result['from_version']}")
