"""nur context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nur.domain.briefs import DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_existing_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store


@click.command()
@click.argument("query", nargs=-1)
@click.option("--project", help="Only notes of this project, and notes without a project.")
@click.option(
    "--max-tokens",
    type=click.IntRange(MIN_TOKENS, MAX_TOKENS),
    default=DEFAULT_TOKENS,
    show_default=True,
    help="Maximum length of the brief.",
)
@click.option("--instructions-only", is_flag=True, help="Only the standing instructions.")
@click.option("--include-sensitive", is_flag=True, help="Also quote sensitive notes.")
@json_option
@data_dir_option
def command(query: tuple[str, ...], as_json: bool, data_dir: str | None, **options: Any) -> None:
    """Print the brief that an agent starts a session with. QUERY adds passages about a topic."""
    params = {"query": " ".join(query) or None, **options}

    async def ask(store: Store) -> Any:
        return await store.call("GET", "/v2/context", params=params)

    brief = with_existing_store(data_dir, ask)
    if as_json:
        render.as_json({"text": "", "tokens": 0, "left_out": 0, "sections": []} if brief is None else brief)
    else:
        click.echo(render.NOTHING_STORED if brief is None else brief["text"])
