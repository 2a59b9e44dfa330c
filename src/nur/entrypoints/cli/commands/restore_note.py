"""nur restore-note."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nur.entrypoints.cli.client import data_dir_option, with_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store


@click.command()
@click.argument("note_id", nargs=-1, required=True)
@data_dir_option
def command(note_id: tuple[str, ...], data_dir: str | None) -> None:
    """Restore notes from the trash, under their ids. `nur list --trash` lists them."""

    async def restore(store: Store) -> None:
        for name in note_id:
            await store.call("POST", "/v2/admin/trash/restore", {"note_id": name})
            click.echo(f"{name} restored")

    with_store(data_dir, restore)
