"""nur review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from nur.domain.errors import BadRequest
from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.client import data_dir_option, json_option, reading

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store

_RELATIONS = {
    "same": "nearly the same",
    "other": "may say something else about the same thing",
    "conflict": "may disagree",
    None: "replaced",
}


@click.command()
@click.argument("review_id", required=False)
@click.argument("decision", required=False, type=click.Choice(["confirm", "reject", "undo"]))
@click.option("--decided", is_flag=True, help="List what was decided instead of what waits.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Most pairs.")
@json_option
@data_dir_option
def command(
    review_id: str | None, decision: str | None, decided: bool, limit: int, as_json: bool, data_dir: str | None
) -> None:
    """List pairs of memories that may contradict or repeat each other, or decide one.

    confirm: the newer memory replaces the older one, which stays as history. reject: both hold. undo: as if nothing
    had been decided.
    """
    if review_id is not None and decision is None:
        raise BadRequest("Say what you decide: confirm, reject or undo.")

    async def call(store: Store) -> Any:
        if review_id is not None:
            return await store.call("POST", f"/v2/reviews/{quote(review_id, safe='')}", {"decision": decision})
        state = "decided" if decided else "waiting"
        return await store.call("GET", "/v2/reviews", params={"state": state, "limit": limit})

    found = reading(data_dir, call)
    if as_json:
        showing.as_json(found or {"reviews": [], "next_after": None})
        return
    if found is None:
        click.echo(showing.NOTHING_STORED)
        return
    pairs = found["reviews"] if review_id is None else [found]
    for one in pairs:
        _show(one)
    if not pairs:
        click.echo("Nothing was decided yet." if decided else "Nothing to review.")


def _show(one: dict[str, Any]) -> None:
    click.echo(f"{one['review_id']}  {_RELATIONS[one['relation']]} ({one['state']})")
    for name in ("newer", "older"):
        note = one[name]
        click.echo(
            f"   {name}: {showing.one_line(note['note_id'])}  said {showing.when(note['ts'])[:10]}"
            f"  {showing.one_line(note['text'], 200)}"
        )
