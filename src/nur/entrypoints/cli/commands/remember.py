"""nur remember."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nur.domain.errors import BadRequest
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store

#: How long to wait for the worker to embed the note; it is stored in any case.
WAIT_SECONDS = 5
_RELATIONS = {"same": "almost the same as", "other": "may differ from", "conflict": "may contradict"}


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--kind", type=click.Choice(["memory", "note", "event"]), default="memory", show_default=True, help="Kind to store."
)
@click.option("--type", "note_type", help="For a memory preference, fact, project or decision; else any word.")
@click.option("--confidence", type=click.FloatRange(0, 1), help="How certain it is, from 0 to 1.")
@click.option("--ts", help="When it was said: 2025-12-25 or 2025-12-25T10:30. Default: now.")
@click.option("--replaces", metavar="ID", help="Memory that this one supersedes; it is kept as history.")
@click.option("--key", help="Key of a note or event; storing the same key again replaces it.")
@click.option("--title", help="Title of a note or event.")
@click.option("--project", help="Project of a note or event.")
@click.option("--ttl-days", type=click.FloatRange(0, min_open=True), help="Days after which a note or event expires.")
@json_option
@data_dir_option
def command(text: tuple[str, ...], kind: str, as_json: bool, data_dir: str | None, **meta: Any) -> None:
    """Store a memory, a note or an event.

    TEXT needs no quotes. - reads standard input: nur remember - < file
    """
    # Shells and editors add a final newline that is not part of the text.
    content = sys.stdin.read().removesuffix("\n") if text == ("-",) else " ".join(text)
    if content.startswith("@") and Path(content[1:200]).is_file():
        raise BadRequest("To store a file: nur ingest FILE. To store it as one memory: nur remember - < FILE")
    fields = {name: value for name, value in meta.items() if value is not None}
    if "note_type" in fields:
        fields["type"] = fields.pop("note_type")
    body = {"text": content, **fields}
    not_of_memories = fields.keys() & {"key", "title", "project", "ttl_days"}
    if kind != "memory" and "replaces" in fields:
        raise BadRequest("Only a memory can replace another: omit --kind.")
    if kind == "memory" and not_of_memories:
        raise BadRequest(f"A memory has no {min(not_of_memories)}: use --kind note.")
    path = {"memory": "/v2/memories", "note": "/v2/notes", "event": "/v2/events"}[kind]

    async def write(store: Store) -> Any:
        return await store.call("POST", path, body, {"wait": "indexed", "wait_seconds": WAIT_SECONDS})

    receipt = with_store(data_dir, write)
    if as_json:
        render.as_json(receipt)
        return
    click.echo(f"{receipt['note_id']} {receipt['operation']}, {receipt['index_state']}")
    similar = {one["note_id"]: one for one in receipt["similar"]}
    for near in receipt["near_duplicates"] or ():
        if near["note_id"] not in similar:
            click.echo(f"  almost the same as {near['note_id']} ({near['similarity']:.2f})")
    for one in similar.values():
        quote = render.one_line(one["text"])
        click.echo(f"  {_RELATIONS[one['relation']]} {one['note_id']} ({render.when(one['ts'])[:10]}): {quote}")
        click.echo(f"    nur review {one['review_id']} confirm|reject")
