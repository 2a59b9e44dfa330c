"""nur resolve."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from nur.entrypoints.cli.client import data_dir_option, with_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store


@click.command()
@click.argument("note_id", nargs=-1, required=True)
@click.option("--undo", is_flag=True, help="Mark them as open again.")
@data_dir_option
def command(note_id: tuple[str, ...], undo: bool, data_dir: str | None) -> None:
    """Mark notes as resolved. A note with the retention `until_resolved` then moves to the trash."""

    async def resolve(store: Store) -> None:
        for name in note_id:
            await store.call("PATCH", f"/v2/notes/{quote(name, safe='')}", {"resolved": not undo})
            click.echo(f"{name} {'open again' if undo else 'resolved'}")

    with_store(data_dir, resolve)
