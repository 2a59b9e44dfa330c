"""nur rebuild."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from nur.domain.errors import NurError
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_store
from nur.settings import load

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store

PATH = "/v2/admin/index/rebuild"
POLL_SECONDS = 0.2
_RUNNING = ("running", "rechunking")


@click.command()
@click.option("--rechunk", is_flag=True, help="Also rechunk the notes whose chunking policy changed.")
@click.option(
    "--wipe-foreign", metavar="NAME", help="First delete this Chroma or Qdrant collection, which Nur did not create."
)
@click.option("--yes", is_flag=True, help="Do not ask before deleting a collection.")
@json_option
@data_dir_option
def command(rechunk: bool, wipe_foreign: str | None, yes: bool, as_json: bool, data_dir: str | None) -> None:
    """Rebuild the vector index from stored vectors, without embedding calls and while searches go on.

    If interrupted, the next server continues in the background.
    """
    if wipe_foreign is not None:
        if not yes:
            click.confirm(f"Delete the collection '{wipe_foreign}' and everything in it?", abort=True)
        _wipe(wipe_foreign, data_dir)
    report = with_store(data_dir, lambda store: _rebuild(store, rechunk=rechunk, quiet=as_json))
    if as_json:
        render.as_json(report)
    else:
        click.echo(
            f"{report['rebuilt']} of {report['chunks']} chunks rebuilt, {report['missing_vectors']} without vectors, "
            f"{report['errors']} errors" + (f", {report['rechunked']} notes rechunked" if rechunk else "")
        )
    if report["state"] == "failed":
        raise NurError(f"The rebuild failed: {report['error']}")


def _wipe(name: str, data_dir: str | None) -> None:
    from nur.bootstrap.indexes import wipe_foreign

    wipe_foreign(load(**({"nur_data_dir": data_dir} if data_dir else {})), name)
    click.echo(f"collection {name} deleted", err=True)


async def _rebuild(store: Store, *, rechunk: bool, quiet: bool) -> Any:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    report = await store.call("POST", PATH, {"rechunk": rechunk})
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal, transient=True) as progress:
        bar = progress.add_task("chunks", total=None)
        while report["state"] in _RUNNING:
            await asyncio.sleep(POLL_SECONDS)
            report = await store.call("GET", PATH)
            progress.update(bar, completed=report["rebuilt"], total=report["chunks"] or None)
    return report
