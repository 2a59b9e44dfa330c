"""nur list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_existing_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store

PAGE = 200


@click.command()
@click.option(
    "--kind",
    multiple=True,
    type=click.Choice(["memory", "turn", "artifact", "note", "event"]),
    help="Only notes of this kind; may be repeated.",
)
@click.option("--type", "note_type", help="Only notes of this type.")
@click.option("--project", help="Only notes of this project.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Maximum number of notes.")
@click.option("--trash", is_flag=True, help="List deleted notes that can be restored.")
@json_option
@data_dir_option
def command(
    kind: tuple[str, ...],
    note_type: str | None,
    project: str | None,
    limit: int,
    trash: bool,
    as_json: bool,
    data_dir: str | None,
) -> None:
    """List what is stored, newest first."""

    async def read(store: Store) -> list[dict[str, Any]]:
        if trash:
            answer = await store.call("GET", "/v2/admin/trash", params={"limit": min(limit, PAGE)})
            return list(answer["notes"])
        notes: list[dict[str, Any]] = []
        cursor = None
        while len(notes) < limit:
            params = {"kind": kind, "type": note_type, "project": project, "limit": min(PAGE, limit - len(notes))}
            page = await store.call("GET", "/v2/notes", params={**params, "cursor": cursor})
            notes += page["notes"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        return notes

    notes = with_existing_store(data_dir, read)
    if as_json:
        render.as_json(notes or [])
    elif notes is None:
        click.echo(render.NOTHING_STORED)
    else:
        render.notes(notes)
