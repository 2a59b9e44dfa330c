"""nur forget."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from nur.entrypoints.cli.client import data_dir_option, with_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store


@click.command()
@click.argument("note_id", nargs=-1, required=True)
@data_dir_option
def command(note_id: tuple[str, ...], data_dir: str | None) -> None:
    """Move notes to the trash: searches no longer find them. They can be restored for 30 days."""

    async def delete(store: Store) -> None:
        for name in note_id:
            await store.call("DELETE", f"/v2/notes/{quote(name, safe='')}")
            click.echo(f"{name} deleted. To undo: nur restore-note {name}")

    with_store(data_dir, delete)
