"""nur changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.client import data_dir_option, json_option, reading

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store


@click.command()
@click.option("--since", help="Only changes from then on: 2026-05-07 or 2026-05-07T10:30:00Z.")
@click.option("--until", help="Only changes before then.")
@click.option("--cursor", help="Only what came after an earlier page: the cursor that it printed.")
@click.option("--limit", type=click.IntRange(1, 500), default=100, show_default=True, help="Most changes.")
@json_option
@data_dir_option
def command(as_json: bool, data_dir: str | None, **asked: Any) -> None:
    """List what was created, replaced, edited, deleted, restored, erased and superseded, oldest first.

    A text that was replaced is shown before and after.
    """
    params = {name: value for name, value in asked.items() if value is not None}

    async def call(store: Store) -> Any:
        return await store.call("GET", "/v2/changes", params=params)

    found = reading(data_dir, call)
    if as_json:
        showing.as_json(found or {"changes": [], "cursor": "c0", "has_more": False})
        return
    if found is None:
        click.echo(showing.NOTHING_STORED)
        return
    for one in found["changes"]:
        _show(one)
    if not found["changes"]:
        click.echo("No changes.")
    click.secho(f"Later: nur changes --cursor {found['cursor']}", dim=True)


def _show(one: dict[str, Any]) -> None:
    name = showing.one_line(one["note_id"] or "(erased)")
    by = f" by {showing.one_line(one['superseded_by'])}" if one["superseded_by"] else ""
    click.echo(f"{showing.when(one['at'])}  {one['change']}  {name}{by}")
    for sign, text in (("-", one["before"]), ("+", one["after"])):
        if text:
            click.echo(f"   {sign} {showing.one_line(text, 200)}")
