"""nur list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.client import data_dir_option, json_option, reading

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store

PAGE = 200


@click.command()
@click.option(
    "--kind",
    multiple=True,
    type=click.Choice(["memory", "turn", "artifact", "note", "event"]),
    help="These kinds alone; may be given again.",
)
@click.option("--type", "sort", help="This type alone.")
@click.option("--project", help="This project alone.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Most notes to list.")
@click.option("--trash", is_flag=True, help="What was deleted and can be restored.")
@json_option
@data_dir_option
def command(
    kind: tuple[str, ...],
    sort: str | None,
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
        found: list[dict[str, Any]] = []
        cursor = None
        while len(found) < limit:
            params = {"kind": kind, "type": sort, "project": project, "limit": min(PAGE, limit - len(found))}
            page = await store.call("GET", "/v2/notes", params={**params, "cursor": cursor})
            found += page["notes"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        return found

    found = reading(data_dir, read)
    if as_json:
        showing.as_json(found or [])
    elif found is None:
        click.echo(showing.NOTHING_STORED)
    else:
        showing.notes(found)
