"""nur search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_existing_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="Maximum number of hits.")
@click.option(
    "--kind",
    multiple=True,
    type=click.Choice(["memory", "turn", "artifact", "note", "event"]),
    help="Only notes of this kind; may be repeated.",
)
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "dense", "lexical"]),
    default="hybrid",
    show_default=True,
    help="Rankers to use.",
)
@click.option("--project", help="Only notes of this project.")
@click.option(
    "--when", help="Time to prefer: 2026-05, 2026-05-07 or 'last week'. Default: the time the question names."
)
@click.option("--as-of", help="Search what was stored by this time: 2026-05-07 or 2026-05-07T10:30:00Z.")
@click.option(
    "--max-chars",
    type=click.IntRange(100, 100_000),
    default=2000,
    show_default=True,
    help="Maximum characters of all passages together.",
)
@json_option
@data_dir_option
def command(
    query: tuple[str, ...],
    limit: int,
    kind: tuple[str, ...],
    mode: str,
    project: str | None,
    when: str | None,
    as_of: str | None,
    max_chars: int,
    as_json: bool,
    data_dir: str | None,
) -> None:
    """Find the passages that answer a question, in everything stored."""
    body = {
        "query": " ".join(query),
        "top_k": limit,
        "kinds": list(kind),
        "mode": mode,
        "project": project,
        "when": when,
        "as_of": as_of,
        "max_chars": max_chars,
        "stitch": False,
    }

    async def ask(store: Store) -> Any:
        return await store.call("POST", "/v2/searches", body)

    answer = with_existing_store(data_dir, ask)
    if as_json:
        render.as_json({"items": [], "degraded": [], "reason": "nothing_stored"} if answer is None else answer)
    elif answer is None:
        click.echo(f"No results found. {render.NOTHING_STORED}")
    else:
        render.hits(answer)
