"""nur explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
from rich.console import Console
from rich.table import Table

from nur.entrypoints.cli import showing
from nur.entrypoints.cli.reach import data_dir_option, json_option, with_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.reach import Store

TABLE_ROWS = 20
#: What each verdict means, for the table.
MEANINGS = {
    "returned": "returned",
    "beyond_limit": "beyond the limit",
    "same_note": "another chunk of the same note",
    "collapsed": "the same as",
    "below_floor": "below the floor",
    "not_visible": "dropped on re-reading: gone, expired, filtered or not visible",
}
#: What the table calls each score.
SCORES = {
    "score": "score",
    "lexical": "words",
    "cosine": "cosine",
    "bonus": "bonus",
    "rrf_score": "rrf",
    "rerank_score": "rerank",
}
#: `mem_0123456789ab`; longer ids are folded.
NOTE_WIDTH = 16


@click.command()
@click.argument("search_id")
@click.argument("note_id", required=False)
@click.option("--all", "every", is_flag=True, help="List every candidate, not the first twenty.")
@json_option
@data_dir_option
def command(search_id: str, note_id: str | None, every: bool, as_json: bool, data_dir: str | None) -> None:
    """Say why a search returned what it did, and why not another note.

    SEARCH_ID is in every search's structured content and in the log. NOTE_ID asks about one note: mem_…, art_…
    """

    async def read(store: Store) -> Any:
        path = f"/v2/searches/{quote(search_id, safe='')}/explain"
        return await store.call("GET", path, params={"note": note_id})

    found = with_store(data_dir, read)
    showing.as_json(found) if as_json else show(Console(), found, every=every)


def show(console: Console, found: dict[str, Any], *, every: bool = False) -> None:
    """The explanation as a page."""
    outcome, request = found["outcome"], found["request"]
    asked = found["query"]
    console.print(f"Search {found['search_id']} at {found['created_at']}", highlight=False)
    console.print("Question: " + ("(kept out of the trace)" if asked is None else asked), markup=False, highlight=False)
    console.print(
        f"{request['tool']}, {request['mode']}, limit {request['limit']}; ordered by {outcome['fusion']}; "
        f"floor {outcome['floor'] if outcome['floor'] is not None else 'none'}; {outcome['hits']} hits"
        + (f" ({outcome['reason']})" if outcome["reason"] else "")
        + (f"; degraded: {', '.join(outcome['degraded'])}" if outcome["degraded"] else ""),
        highlight=False,
    )
    stages = " · ".join(f"{stage} {spent:.1f}" for stage, spent in found["timings"].items())
    console.print(f"Milliseconds: {stages}", highlight=False)
    note = found.get("note")
    if note is not None:
        console.print(f"\n{note['id']}: {note['why']}", markup=False, highlight=False)
        return
    _table(console, found["candidates"], len(found["candidates"]) if every else TABLE_ROWS)


def _table(console: Console, candidates: list[dict[str, Any]], most: int) -> None:
    """The first candidates; a score that none of them has takes no room."""
    shown = candidates[:most]
    scores = [name for name in SCORES if any(one.get(name) for one in shown)]
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("place", justify="right", no_wrap=True)
    table.add_column("note", overflow="fold", min_width=NOTE_WIDTH)
    for name in ("chunk", *(SCORES[name] for name in scores)):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("ranks", no_wrap=True)
    table.add_column("verdict")
    for one in shown:
        ranks = " ".join(f"{ranker[0]}{rank}" for ranker, rank in sorted(one.get("ranks", {}).items()))
        verdict = MEANINGS[one["verdict"]] + (f" {one['instead']}" if "instead" in one else "")
        table.add_row(
            str(one.get("place", "")),
            one.get("public_id", "?"),
            str(one.get("chunk_index", "")),
            *(_number(one.get(name)) for name in scores),
            ranks,
            verdict,
        )
    console.print()
    console.print(table)
    if len(candidates) > most:
        console.print(f"… and {len(candidates) - most} more (--all).", highlight=False)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
