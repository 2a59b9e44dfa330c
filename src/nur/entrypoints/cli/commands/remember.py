"""nur remember."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nur.domain.errors import BadRequest
from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.client import data_dir_option, json_option, with_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store

#: Seconds to let the worker embed before this command leaves; the note is stored in any case.
WAIT_SECONDS = 5
_RELATIONS = {"same": "almost the same as", "other": "may say something else than", "conflict": "may disagree with"}


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--kind", type=click.Choice(["memory", "note", "event"]), default="memory", help="What it is.")
@click.option("--type", "sort", help="A memory's: preference, fact, project or decision; else any word.")
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure it is.")
@click.option("--ts", help="When it was said: 2025-12-25 or 2025-12-25T10:30; else now.")
@click.option("--replaces", metavar="ID", help="The memory that this one supersedes; it stays as history.")
@click.option("--key", help="A note's or event's name: stored again under it, it is replaced.")
@click.option("--title", help="A note's or event's title.")
@click.option("--project", help="A note's or event's project.")
@click.option("--ttl-days", type=click.FloatRange(0, min_open=True), help="Let a note or event expire.")
@json_option
@data_dir_option
def command(text: tuple[str, ...], kind: str, as_json: bool, data_dir: str | None, **meta: Any) -> None:
    """Store a memory, a note or an event.

    TEXT is the text; several words need no quotes. - reads standard input: nur remember - < file
    """
    # What a shell or an editor writes ends with one newline that is none of the text.
    content = sys.stdin.read().removesuffix("\n") if text == ("-",) else " ".join(text)
    if content.startswith("@") and Path(content[1:200]).is_file():
        raise BadRequest("Files are stored by nur ingest FILE, or as one memory by: nur remember - < FILE")
    fields = {name: value for name, value in meta.items() if value is not None}
    if "sort" in fields:
        fields["type"] = fields.pop("sort")
    body = {"text": content, **fields}
    beyond = fields.keys() & {"key", "title", "project", "ttl_days"}
    if kind != "memory" and "replaces" in fields:
        raise BadRequest("Only a memory replaces another: leave --kind out.")
    if kind == "memory" and beyond:
        raise BadRequest(f"A memory has no {min(beyond)}: use --kind note.")
    path = {"memory": "/v2/memories", "note": "/v2/notes", "event": "/v2/events"}[kind]

    async def store(found: Store) -> Any:
        return await found.call("POST", path, body, {"wait": "indexed", "wait_seconds": WAIT_SECONDS})

    receipt = with_store(data_dir, store)
    if as_json:
        showing.as_json(receipt)
        return
    click.echo(f"{receipt['note_id']} {receipt['operation']}, {receipt['index_state']}")
    similar = {one["note_id"]: one for one in receipt["similar"]}
    for near in receipt["near_duplicates"] or ():
        if near["note_id"] not in similar:
            click.echo(f"  almost the same as {near['note_id']} ({near['similarity']:.2f})")
    for one in similar.values():
        quote = showing.one_line(one["text"])
        click.echo(f"  {_RELATIONS[one['relation']]} {one['note_id']} ({showing.when(one['ts'])[:10]}): {quote}")
        click.echo(f"    nur review {one['review_id']} confirm|reject")
