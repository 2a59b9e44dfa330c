"""nur explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import UUID

import click
from rich.console import Console
from rich.text import Text

from nur.domain.errors import BadRequest, NotFound
from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.client import data_dir_option, json_option, reading

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store

MOST_SHOWN = 20
#: What each outcome means.
MEANINGS = {
    "returned": "returned",
    "beyond_limit": "beyond the limit",
    "same_note": "another chunk of the same note",
    "collapsed": "the same as",
    "below_floor": "below the floor",
    "not_visible": "dropped on re-reading: gone, expired, filtered or not visible",
}
#: What each score is called.
SCORES = {
    "score": "score",
    "lexical": "words",
    "cosine": "cosine",
    "bonus": "bonus",
    "rrf_score": "rrf",
    "rerank_score": "rerank",
}


@click.command()
@click.argument("search_id")
@click.argument("note_id", required=False)
@click.option("--all", "every", is_flag=True, help="List every candidate, not the first twenty.")
@json_option
@data_dir_option
def command(search_id: str, note_id: str | None, every: bool, as_json: bool, data_dir: str | None) -> None:
    """Say why a search returned what it did, and why not another note.

    SEARCH_ID is what `nur search` prints in its last line; it is also in the structured content of the tools' answers
    and in the log. NOTE_ID asks about one note: mem_…, art_…
    """
    if not _is_uuid(search_id):
        given = showing.one_line(search_id)
        raise BadRequest(f"SEARCH_ID: {given} is not the id of a search. nur search prints it in its last line.")

    async def read(store: Store) -> Any:
        path = f"/v2/searches/{quote(search_id, safe='')}/explain"
        return await store.call("GET", path, params={"note": note_id})

    found = reading(data_dir, read)
    if found is None:
        raise NotFound(showing.NOTHING_STORED)
    if (found.get("note") or {}).get("outcome") == "unknown":
        raise NotFound(f"Note {note_id} not found")
    showing.as_json(found) if as_json else show(Console(), found, every=every)


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def show(console: Console, found: dict[str, Any], *, every: bool = False) -> None:
    """The explanation as a page."""
    outcome, request = found["outcome"], found["request"]
    asked = found["query"]
    note = found.get("note")
    stages = " · ".join(f"{stage} {spent:.1f}" for stage, spent in found["timings"].items())
    page = [
        f"Search {found['search_id']} at {showing.when(found['created_at'])}",
        "Question: " + ("(kept out of the trace)" if asked is None else showing.harmless(asked)),
        f"{request['tool']}, {request['mode']}, limit {request['limit']}; ordered by {outcome['fusion']}; "
        f"floor {outcome['floor'] if outcome['floor'] is not None else 'none'}; {outcome['hits']} hits"
        + (f" ({outcome['reason']})" if outcome["reason"] else "")
        + (f"; degraded: {', '.join(outcome['degraded'])}" if outcome["degraded"] else ""),
        f"Milliseconds: {stages}",
        "",
    ]
    if note is not None:
        page.append(f"{note['id']}: {note['why']}")
    for line in page:
        _print(console, line)
    if note is None:
        _candidates(console, found["candidates"], len(found["candidates"]) if every else MOST_SHOWN)


def _candidates(console: Console, candidates: list[dict[str, Any]], most: int) -> None:
    """The first candidates: two lines each on a terminal, whose columns would cut ids; one line each in a pipe."""
    for one in candidates[:most]:
        if console.is_terminal:
            _print(console, _outcome(one))
            showing.indented(console, Text(_scores(one)))
        else:
            _print(console, f"{_outcome(one)}\t{_scores(one)}")
    if len(candidates) > most:
        _print(console, f"… and {len(candidates) - most} more (--all).")


def _outcome(one: dict[str, Any]) -> str:
    """Return a candidate's rank, id and outcome."""
    chunk = f" chunk {one['chunk_index']}" if "chunk_index" in one else ""
    instead = f" {one['instead']}" if "instead" in one else ""
    return f"{one.get('place', '-')}. {one.get('public_id', '?')}{chunk}: {MEANINGS[one['outcome']]}{instead}"


def _scores(one: dict[str, Any]) -> str:
    """Its scores, and its rank with each ranker that found it."""
    scores = [f"{called} {one[name]:.4f}" for name, called in SCORES.items() if one.get(name) is not None]
    ranks = [f"{ranker} rank {rank}" for ranker, rank in sorted(one.get("ranks", {}).items())]
    return ", ".join((*scores, *ranks))


def _print(console: Console, line: str) -> None:
    """As it is: not markup, and wrapped on a terminal alone."""
    console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)
