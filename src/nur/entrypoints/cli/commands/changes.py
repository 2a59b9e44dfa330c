"""nur changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_existing_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store


@click.command()
@click.option("--since", help="Only changes at or after this time: 2026-05-07 or 2026-05-07T10:30:00Z.")
@click.option("--until", help="Only changes before this time.")
@click.option("--cursor", help="Continue after a previous page: the cursor that it printed.")
@click.option("--limit", type=click.IntRange(1, 500), default=100, show_default=True, help="Maximum number of changes.")
@json_option
@data_dir_option
def command(as_json: bool, data_dir: str | None, **options: Any) -> None:
    """List changes, oldest first: notes created, replaced, edited, deleted, restored, erased and superseded.

    A replaced text is shown before and after the change.
    """
    params = {name: value for name, value in options.items() if value is not None}

    async def call(store: Store) -> Any:
        return await store.call("GET", "/v2/changes", params=params)

    page = with_existing_store(data_dir, call)
    if as_json:
        render.as_json(page or {"changes": [], "cursor": "c0", "has_more": False})
        return
    if page is None:
        click.echo(render.NOTHING_STORED)
        return
    for change in page["changes"]:
        _show(change)
    if not page["changes"]:
        click.echo("No changes.")
    click.secho(f"Next: nur changes --cursor {page['cursor']}", dim=True)


def _show(change: dict[str, Any]) -> None:
    name = render.one_line(change["note_id"] or "(erased)")
    by = f" by {render.one_line(change['superseded_by'])}" if change["superseded_by"] else ""
    click.echo(f"{render.when(change['at'])}  {change['change']}  {name}{by}")
    for sign, text in (("-", change["before"]), ("+", change["after"])):
        if text:
            click.echo(f"   {sign} {render.one_line(text, 200)}")
