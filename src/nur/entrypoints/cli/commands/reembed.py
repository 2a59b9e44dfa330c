"""nur reembed."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from nur.domain.errors import BadRequest, NurError
from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.client import data_dir_option, json_option, reach
from nur.entrypoints.stdio.locate import running
from nur.observability import events
from nur.settings import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.entrypoints.cli.client import Store
    from nur.settings import Settings

PATH = "/v2/admin/embedding"
LOOK_EVERY_SECONDS = 0.5


@click.command()
@click.option("--to", metavar="MODEL", help="models, local, openai, or provider:model:dimensions.")
@click.option("--purge-old", is_flag=True, help="Forget the vectors of all models but the store's own: no way back.")
@click.option("--yes", is_flag=True, help="Do not ask before vectors are forgotten.")
@json_option
@data_dir_option
def command(to: str | None, purge_old: bool, yes: bool, as_json: bool, data_dir: str | None) -> None:
    """Embed everything with another model while the current one serves, and switch to it in one step.

    A running server does it in the background and goes on answering; without one this process does it. Interrupted, it
    goes on where it was. The old vectors stay: naming the old model switches back, until --purge-old.
    """
    if to is None and not purge_old:
        raise BadRequest("Name a model with --to, or forget old vectors with --purge-old.")
    settings = load(**({"nur_data_dir": data_dir} if data_dir else {}))
    events.configure("ERROR", settings.log_format)
    if to is not None:
        result = asyncio.run(_reembed(settings, to, quiet=as_json))
        showing.as_json(result) if as_json else _show(result)
        if not result["switched"]:
            raise NurError(f"Nothing was switched: {result['error']} Run the command again to go on.")
    if purge_old:
        if not yes:
            click.confirm("Forget the vectors of all models but the store's own?", abort=True)
        for version, vectors in asyncio.run(_purge(settings)).items():
            click.echo(f"{vectors} vectors of {version} forgotten", err=as_json)


async def _reembed(settings: Settings, to: str, *, quiet: bool) -> dict[str, Any]:
    """Embed everything with a model, show progress, and return the fields of `Reembedded`."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal, transient=True) as bars:
        bar = bars.add_task("chunks", total=None)

        def progress(done: int, total: int) -> None:
            bars.update(bar, completed=done, total=total or None)

        if await asyncio.to_thread(running, settings.nur_data_dir) is None:
            return await _here(settings, to, progress)
        async with reach(settings) as store:
            return await _there(store, to, progress)


async def _here(settings: Settings, to: str, progress: Callable[[int, int], None]) -> dict[str, Any]:
    """Without a server: the store is opened as it is, whatever model the settings ask for."""
    from nur.entrypoints.cli.reembedding import reembedding

    async with reembedding(settings, to) as (reembed, existing):
        return asdict(await reembed(existing, progress))


async def _there(store: Store, to: str, progress: Callable[[int, int], None]) -> dict[str, Any]:
    """Let the server do it, and look on until it has switched."""
    stands = await store.call("POST", PATH, {"to": to})
    before, wanted = stands["embedding_version"], stands["to_version"]
    while stands["state"] in ("embedding", "switching"):
        await asyncio.sleep(LOOK_EVERY_SECONDS)
        stands = await store.call("GET", PATH)
        progress(stands["done"], stands["total"])
    result = {"from_version": before, "to_version": wanted or before, "embedded": 0, "comparison": None}
    if stands["embedding_version"] == wanted:
        result = dict(stands["last"])
    return {**result, "switched": stands["state"] != "failed", "error": stands["error"]}


async def _purge(settings: Settings) -> dict[str, int]:
    async with reach(settings) as store:
        forgotten: dict[str, int] = (await store.call("POST", f"{PATH}/purge"))["forgotten"]
        return forgotten


def _show(result: dict[str, Any]) -> None:
    if result["to_version"] == result["from_version"]:
        click.echo(f"The store's model is {result['to_version']} already.")
        return
    click.echo(f"{result['embedded']} chunks embedded with {result['to_version']}")
    if found := result["comparison"]:
        click.echo(
            f"{found['questions']} questions: {found['same_top']:.0%} of the ten best are the same as before; "
            f"{found['found_itself']:.0%} found the chunk that they were taken from"
        )
    if result["switched"]:
        click.echo(f"The store's model is {result['to_version']}. Back: nur reembed --to {result['from_version']}")
