"""nur purge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nur.entrypoints.cli.client import data_dir_option, with_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store


@click.command()
@click.argument("note_id", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@data_dir_option
def command(note_id: tuple[str, ...], yes: bool, data_dir: str | None) -> None:
    """Erase notes for good, deleted or not, with their previous texts. This cannot be undone."""
    if not yes:
        click.confirm(f"Erase {', '.join(note_id)} for good?", abort=True)

    async def erase(store: Store) -> None:
        for name in note_id:
            await store.call("POST", "/v2/admin/trash/purge", {"note_id": name})
            click.echo(f"{name} erased")

    with_store(data_dir, erase)
