"""nur explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import UUID

import click
from rich.console import Console
from rich.text import Text

from nur.domain.errors import BadRequest, NotFound
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_existing_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store

MAX_SHOWN = 20
#: Wording of each outcome.
MEANINGS = {
    "returned": "returned",
    "beyond_limit": "beyond the limit",
    "same_note": "another chunk of the same note",
    "collapsed": "the same as",
    "below_floor": "below the floor",
    "not_visible": "dropped on re-reading: gone, expired, filtered or not visible",
}
#: Label of each score.
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
@click.option("--all", "show_all", is_flag=True, help="List every candidate, not only the first twenty.")
@json_option
@data_dir_option
def command(search_id: str, note_id: str | None, show_all: bool, as_json: bool, data_dir: str | None) -> None:
    """Explain why a search returned its hits, or why it left a note out.

    SEARCH_ID is printed by `nur search` in its last line; tools return it in their structured content, and the log has
    it, too. NOTE_ID explains the result for one note: mem_…, art_…
    """
    if not _is_uuid(search_id):
        given = render.one_line(search_id)
        raise BadRequest(f"SEARCH_ID: {given} is not the id of a search. nur search prints it in its last line.")

    async def read(store: Store) -> Any:
        path = f"/v2/searches/{quote(search_id, safe='')}/explain"
        return await store.call("GET", path, params={"note": note_id})

    trace = with_existing_store(data_dir, read)
    if trace is None:
        raise NotFound(render.NOTHING_STORED)
    if (trace.get("note") or {}).get("outcome") == "unknown":
        raise NotFound(f"Note {note_id} not found")
    render.as_json(trace) if as_json else show(Console(), trace, show_all=show_all)


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def show(console: Console, trace: dict[str, Any], *, show_all: bool = False) -> None:
    """Print the explanation."""
    outcome, request = trace["outcome"], trace["request"]
    query = trace["query"]
    note = trace.get("note")
    stages = " · ".join(f"{stage} {spent:.1f}" for stage, spent in trace["timings"].items())
    page = [
        f"Search {trace['search_id']} at {render.when(trace['created_at'])}",
        "Question: " + ("(not recorded)" if query is None else render.harmless(query)),
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
        _candidates(console, trace["candidates"], len(trace["candidates"]) if show_all else MAX_SHOWN)


def _candidates(console: Console, candidates: list[dict[str, Any]], most: int) -> None:
    """Print the first candidates: two lines each on a terminal, one tab-separated line each in a pipe."""
    for candidate in candidates[:most]:
        if console.is_terminal:
            _print(console, _outcome(candidate))
            render.indented(console, Text(_scores(candidate)))
        else:
            _print(console, f"{_outcome(candidate)}\t{_scores(candidate)}")
    if len(candidates) > most:
        _print(console, f"… and {len(candidates) - most} more (--all).")


def _outcome(candidate: dict[str, Any]) -> str:
    """A candidate's place in the ranking, its id and its outcome."""
    chunk = f" chunk {candidate['chunk_index']}" if "chunk_index" in candidate else ""
    instead = f" {candidate['instead']}" if "instead" in candidate else ""
    name = f"{candidate.get('place', '-')}. {candidate.get('public_id', '?')}{chunk}"
    return f"{name}: {MEANINGS[candidate['outcome']]}{instead}"


def _scores(candidate: dict[str, Any]) -> str:
    """A candidate's scores, and its rank with each ranker that found it."""
    scores = [f"{label} {candidate[name]:.4f}" for name, label in SCORES.items() if candidate.get(name) is not None]
    ranks = [f"{ranker} rank {rank}" for ranker, rank in sorted(candidate.get("ranks", {}).items())]
    return ", ".join((*scores, *ranks))


def _print(console: Console, line: str) -> None:
    """Print a line literally, never as markup; wrap it only on a terminal."""
    console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)
