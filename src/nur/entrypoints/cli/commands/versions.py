"""nur versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
from rich.table import Table
from rich.text import Text

from nur.domain.errors import BadRequest, NotFound
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_existing_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store

#: How long to wait for the worker to embed the note; the change is stored in any case.
WAIT_SECONDS = 5


@click.command()
@click.argument("note_id")
@click.option("--show", type=click.IntRange(1), metavar="N", help="Print the text of this version.")
@click.option("--restore", type=click.IntRange(1), metavar="N", help="Make the text of this version current again.")
@json_option
@data_dir_option
def command(note_id: str, show: int | None, restore: int | None, as_json: bool, data_dir: str | None) -> None:
    """List a note's versions, newest first: the current one and up to twenty before it.

    Restoring a version makes its text the newest version; the others are kept.
    """
    if show is not None and restore is not None:
        raise BadRequest("Use --show or --restore, not both.")
    path = f"/v2/notes/{quote(note_id, safe='')}/versions"

    async def call(store: Store) -> Any:
        if restore is not None:
            wait = {"wait": "indexed", "wait_seconds": WAIT_SECONDS}
            return await store.call("POST", f"{path}/{restore}/restore", params=wait)
        return await store.call("GET", path if show is None else f"{path}/{show}")

    answer = with_existing_store(data_dir, call)
    if answer is None:
        raise NotFound(render.NOTHING_STORED)
    if as_json:
        render.as_json(answer)
    elif restore is not None:
        click.echo(f"{answer['note_id']} {answer['operation']}, version {answer['version']}, {answer['index_state']}")
    elif show is not None:
        click.echo(render.harmless(answer["text"]))
    else:
        _list(answer["versions"])


def _list(versions: list[dict[str, Any]]) -> None:
    shown = Table(box=None, pad_edge=False)
    for name in ("version", "replaced", "characters", "title"):
        shown.add_column(name, no_wrap=name != "title")
    for version in versions:
        until = "current" if version["current"] else render.when(version["replaced_at"])
        title = render.one_line(version["title"])
        shown.add_row(*map(Text, (str(version["version"]), until, str(version["characters"]), title)))
    render.table(shown)
