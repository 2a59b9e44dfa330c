"""nur get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from nur.domain.errors import NotFound
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_existing_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store


@click.command()
@click.argument("note_id")
@click.option("--chunks", is_flag=True, help="Also list its chunks.")
@json_option
@data_dir_option
def command(note_id: str, chunks: bool, as_json: bool, data_dir: str | None) -> None:
    """Show a note of any kind, with its whole text."""

    async def read(store: Store) -> Any:
        return await store.call("GET", f"/v2/notes/{quote(note_id, safe='')}", params={"chunks": chunks})

    note = with_existing_store(data_dir, read)
    if note is None:
        raise NotFound(render.NOTHING_STORED)
    render.as_json(note) if as_json else render.note(note)
