"""nur timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.client import data_dir_option, json_option, reading

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store


@click.command()
@click.argument("query", nargs=-1)
@click.option("--about", help="Only notes with these words in them.")
@click.option("--when", help="Only this time: 2026-05, 2026-05-07 or 'last week'.")
@click.option("--conversation", "conversation_id", help="Only turns of this conversation.")
@click.option("--limit", type=click.IntRange(1, 200), default=30, show_default=True, help="Most entries.")
@json_option
@data_dir_option
def command(query: tuple[str, ...], as_json: bool, data_dir: str | None, **asked: Any) -> None:
    """List what was said or happened, in the order of time.

    QUERY lists what a search for it finds; without one the latest notes are listed.
    """
    params = {name: value for name, value in {"query": " ".join(query) or None, **asked}.items() if value is not None}

    async def call(store: Store) -> Any:
        return await store.call("GET", "/v2/timeline", params=params)

    found = reading(data_dir, call)
    if as_json:
        showing.as_json(found or {"entries": []})
        return
    entries = found["entries"] if found else []
    for one in entries:
        days = one["first_day"] if one["first_day"] == one["last_day"] else f"{one['first_day']} to {one['last_day']}"
        click.echo(f"{days}  {showing.one_line(one['note_id'])}  {showing.one_line(one['quote'], 200)}")
    if not entries:
        click.echo("Nothing found." if found else showing.NOTHING_STORED)
