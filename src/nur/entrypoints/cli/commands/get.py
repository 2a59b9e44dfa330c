"""nur get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from nur.domain.errors import NotFound
from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.client import data_dir_option, json_option, reading

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store


@click.command()
@click.argument("note_id")
@click.option("--chunks", is_flag=True, help="List its chunks, too.")
@json_option
@data_dir_option
def command(note_id: str, chunks: bool, as_json: bool, data_dir: str | None) -> None:
    """Show a note of any kind, with its whole text."""

    async def read(store: Store) -> Any:
        return await store.call("GET", f"/v2/notes/{quote(note_id, safe='')}", params={"chunks": chunks})

    found = reading(data_dir, read)
    if found is None:
        raise NotFound(showing.NOTHING_STORED)
    showing.as_json(found) if as_json else showing.note(found)
