"""nur timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_existing_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store


@click.command()
@click.argument("query", nargs=-1)
@click.option("--about", help="Only notes that contain these words.")
@click.option("--when", help="Only this time: 2026-05, 2026-05-07 or 'last week'.")
@click.option("--conversation", "conversation_id", help="Only turns of this conversation.")
@click.option("--limit", type=click.IntRange(1, 200), default=30, show_default=True, help="Maximum number of entries.")
@json_option
@data_dir_option
def command(query: tuple[str, ...], as_json: bool, data_dir: str | None, **options: Any) -> None:
    """List what was said or happened, in order of time.

    With QUERY, lists the notes that a search for it finds; without it, the latest notes.
    """
    params = {name: value for name, value in {"query": " ".join(query) or None, **options}.items() if value is not None}

    async def call(store: Store) -> Any:
        return await store.call("GET", "/v2/timeline", params=params)

    page = with_existing_store(data_dir, call)
    if as_json:
        render.as_json(page or {"entries": []})
        return
    entries = page["entries"] if page else []
    for entry in entries:
        first, last = entry["first_day"], entry["last_day"]
        days = first if first == last else f"{first} to {last}"
        click.echo(f"{days}  {render.one_line(entry['note_id'])}  {render.one_line(entry['quote'], 200)}")
    if not entries:
        click.echo("Nothing found." if page else render.NOTHING_STORED)
