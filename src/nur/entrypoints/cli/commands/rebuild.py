"""nur rebuild."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from nur.domain.errors import NurError
from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.client import data_dir_option, json_option, with_store
from nur.settings import load

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store

PATH = "/v2/admin/index/rebuild"
LOOK_EVERY_SECONDS = 0.2
_AT_WORK = ("running", "rechunking")


@click.command()
@click.option("--rechunk", is_flag=True, help="Chunk notes again whose chunking policy changed.")
@click.option(
    "--wipe-foreign", metavar="NAME", help="First delete this collection of Chroma or Qdrant, which is not ours."
)
@click.option("--yes", is_flag=True, help="Do not ask before a collection is deleted.")
@json_option
@data_dir_option
def command(rechunk: bool, wipe_foreign: str | None, yes: bool, as_json: bool, data_dir: str | None) -> None:
    """Rebuild the vector index from stored vectors: no embedding call is made, and searches go on.

    Interrupted, it goes on in the background of the next server.
    """
    if wipe_foreign is not None:
        if not yes:
            click.confirm(f"Delete the collection '{wipe_foreign}' with all that is in it?", abort=True)
        _wipe(wipe_foreign, data_dir)
    report = with_store(data_dir, lambda store: _rebuild(store, rechunk=rechunk, quiet=as_json))
    if as_json:
        showing.as_json(report)
    else:
        click.echo(
            f"{report['rebuilt']} of {report['chunks']} chunks rebuilt, {report['missing_vectors']} wait for vectors, "
            f"{report['errors']} errors" + (f", {report['rechunked']} notes chunked again" if rechunk else "")
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
        while report["state"] in _AT_WORK:
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            report = await store.call("GET", PATH)
            progress.update(bar, completed=report["rebuilt"], total=report["chunks"] or None)
    return report
