"""nur review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from nur.domain.errors import BadRequest
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_existing_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store

_RELATIONS = {
    "same": "nearly the same",
    "other": "may differ about the same thing",
    "conflict": "may contradict each other",
    None: "replaced",
}


@click.command()
@click.argument("review_id", required=False)
@click.argument("decision", required=False, type=click.Choice(["confirm", "reject", "undo"]))
@click.option("--decided", is_flag=True, help="List decided pairs instead of open ones.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Maximum number of pairs.")
@json_option
@data_dir_option
def command(
    review_id: str | None, decision: str | None, decided: bool, limit: int, as_json: bool, data_dir: str | None
) -> None:
    """List pairs of memories that may contradict or repeat each other, or decide about one pair.

    confirm: the newer memory replaces the older one, which is kept as history. reject: both stay valid. undo: revoke
    the decision.
    """
    if review_id is not None and decision is None:
        raise BadRequest("Give a decision: confirm, reject or undo.")

    async def call(store: Store) -> Any:
        if review_id is not None:
            return await store.call("POST", f"/v2/reviews/{quote(review_id, safe='')}", {"decision": decision})
        state = "decided" if decided else "waiting"
        return await store.call("GET", "/v2/reviews", params={"state": state, "limit": limit})

    answer = with_existing_store(data_dir, call)
    if as_json:
        render.as_json(answer or {"reviews": [], "next_after": None})
        return
    if answer is None:
        click.echo(render.NOTHING_STORED)
        return
    pairs = answer["reviews"] if review_id is None else [answer]
    for pair in pairs:
        _show(pair)
    if not pairs:
        click.echo("Nothing has been decided yet." if decided else "Nothing to review.")


def _show(pair: dict[str, Any]) -> None:
    click.echo(f"{pair['review_id']}  {_RELATIONS[pair['relation']]} ({pair['state']})")
    for name in ("newer", "older"):
        note = pair[name]
        click.echo(
            f"   {name}: {render.one_line(note['note_id'])}  said {render.when(note['ts'])[:10]}"
            f"  {render.one_line(note['text'], 200)}"
        )
