"""nur reembed."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from nur.domain.errors import BadRequest, NurError
from nur.entrypoints.cli import showing
from nur.entrypoints.cli.reach import data_dir_option, json_option
from nur.observability import events
from nur.settings import load

if TYPE_CHECKING:
    from nur.services.reembed import Reembedded
    from nur.settings import Settings


@click.command()
@click.option("--to", metavar="MODEL", help="local, openai, or provider:model:dimensions.")
@click.option("--purge-old", is_flag=True, help="Forget the vectors of all models but the store's own: no way back.")
@click.option("--yes", is_flag=True, help="Do not ask before vectors are forgotten.")
@json_option
@data_dir_option
def command(to: str | None, purge_old: bool, yes: bool, as_json: bool, data_dir: str | None) -> None:
    """Embed everything with another model, beside the present one, and switch to it in one step.

    The server must not run. Interrupted, it goes on where it was. The old vectors stay: naming the old model switches
    back, until --purge-old.
    """
    if to is None and not purge_old:
        raise BadRequest("Name a model with --to, or forget old vectors with --purge-old.")
    settings = load(**({"nur_data_dir": data_dir} if data_dir else {}))
    events.configure("ERROR")
    if to is not None:
        result = asyncio.run(_reembed(settings, to, quiet=as_json))
        showing.as_json(asdict(result)) if as_json else _show(result)
        if not result.switched:
            raise NurError(f"Nothing was switched: {result.error} Run the command again to go on.")
    if purge_old:
        if not yes:
            click.confirm("Forget the vectors of all models but the store's own?", abort=True)
        for version, vectors in asyncio.run(_purge(settings)).items():
            click.echo(f"{vectors} vectors of {version} forgotten", err=as_json)


async def _reembed(settings: Settings, to: str, *, quiet: bool) -> Reembedded:
    from nur.entrypoints.cli.reembedding import reembedding

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    async with reembedding(settings, to) as (reembed, held):
        with Progress(*columns, console=Console(stderr=True), disable=quiet, transient=True) as progress:
            bar = progress.add_task("chunks", total=None)
            return await reembed(held, lambda done, total: progress.update(bar, completed=done, total=total))


async def _purge(settings: Settings) -> dict[str, int]:
    from nur.bootstrap import make_ledger
    from nur.ports.clock import SystemClock

    ledger = make_ledger(settings, SystemClock())
    await ledger.open()
    try:
        kept = await ledger.fact("embedding_version")
        others = [version for version in await ledger.held_versions() if version != kept]
        return {version: await ledger.drop_vectors(version) for version in others}
    finally:
        await ledger.close()


def _show(result: Reembedded) -> None:
    click.echo(f"{result.embedded} chunks embedded with {result.to_version}")
    if result.comparison is not None:
        told = result.comparison
        click.echo(
            f"{told.questions} questions: {told.same_top:.0%} of the ten best are the same as before; "
            f"{told.found_itself:.0%} found the chunk that they were taken from"
        )
    if result.switched:
        click.echo(f"The store's model is {result.to_version}. Back: nur reembed --to {result.from_version}")
