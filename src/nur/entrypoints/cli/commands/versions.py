"""nur versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
from rich.table import Table
from rich.text import Text

from nur.domain.errors import BadRequest, NotFound
from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.client import data_dir_option, json_option, reading

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store

#: Seconds to let the worker embed before this command leaves; the change is stored in any case.
WAIT_SECONDS = 5


@click.command()
@click.argument("note_id")
@click.option("--show", type=click.IntRange(1), metavar="N", help="Print the text of this version.")
@click.option("--restore", type=click.IntRange(1), metavar="N", help="Make this text the current one again.")
@json_option
@data_dir_option
def command(note_id: str, show: int | None, restore: int | None, as_json: bool, data_dir: str | None) -> None:
    """List a note's texts, newest first: the current one and at most twenty before it.

    A text that is restored becomes the newest version; those before it stay.
    """
    if show is not None and restore is not None:
        raise BadRequest("Name --show or --restore, not both.")
    path = f"/v2/notes/{quote(note_id, safe='')}/versions"

    async def call(store: Store) -> Any:
        if restore is not None:
            wait = {"wait": "indexed", "wait_seconds": WAIT_SECONDS}
            return await store.call("POST", f"{path}/{restore}/restore", params=wait)
        return await store.call("GET", path if show is None else f"{path}/{show}")

    found = reading(data_dir, call)
    if found is None:
        raise NotFound(showing.NOTHING_STORED)
    if as_json:
        showing.as_json(found)
    elif restore is not None:
        click.echo(f"{found['note_id']} {found['operation']}, version {found['version']}, {found['index_state']}")
    elif show is not None:
        click.echo(showing.harmless(found["text"]))
    else:
        _list(found["versions"])


def _list(versions: list[dict[str, Any]]) -> None:
    shown = Table(box=None, pad_edge=False)
    for name in ("version", "replaced", "characters", "title"):
        shown.add_column(name, no_wrap=name != "title")
    for one in versions:
        until = "current" if one["current"] else showing.when(one["replaced_at"])
        title = showing.one_line(one["title"])
        shown.add_row(*map(Text, (str(one["version"]), until, str(one["characters"]), title)))
    showing.table(shown)
