"""nur edit."""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from nur.domain.errors import BadRequest, Conflict, NotFound, NurError
from nur.domain.kinds import KINDS
from nur.domain.notes import Kind
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_existing_store, with_store

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store

#: How long to wait for the worker to embed the note; the change is stored in any case.
WAIT_SECONDS = 5


@click.command()
@click.argument("note_id")
@click.option("--text", help="The new text; - reads standard input.")
@click.option("--title", help="The new title; an empty one removes it.")
@click.option("--type", "note_type", help="The new type; for a memory preference, fact, project or decision.")
@json_option
@data_dir_option
def command(
    note_id: str, text: str | None, title: str | None, note_type: str | None, as_json: bool, data_dir: str | None
) -> None:
    """Change a note. Without options, opens its text in your editor (VISUAL, EDITOR).

    Changes that others make in the meantime are not overwritten.
    """
    note = _read(note_id, data_dir)
    change: dict[str, Any] = {}
    if title is not None:
        change["title"] = title or None
    if note_type is not None:
        change["type"] = note_type
    if text is not None:
        change["text"] = sys.stdin.read().removesuffix("\n") if text == "-" else text
    if not change:
        change = _edited(note)
    if not change:
        click.echo("Nothing was changed.")
        return
    receipt = _change(note, change, data_dir)
    render.as_json(receipt) if as_json else click.echo(
        f"{receipt['note_id']} {receipt['operation']}, {receipt['index_state']}"
    )


def _path(note_id: str) -> str:
    return f"/v2/notes/{quote(note_id, safe='')}"


def _read(note_id: str, data_dir: str | None) -> dict[str, Any]:
    async def read(store: Store) -> dict[str, Any]:
        fields: dict[str, Any] = await store.call("GET", _path(note_id))
        return fields

    note = with_existing_store(data_dir, read)
    if note is None:
        raise NotFound(render.NOTHING_STORED)
    return note


def _edited(note: dict[str, Any]) -> dict[str, str]:
    """Open the note's text in the editor; returns the change, empty if the text is the same."""
    if not KINDS[Kind(note["kind"])].has_editable_text:
        raise BadRequest(f"To change the text of {note['note_id']}, store the {note['kind']} again.")
    old = note["text"]
    new = click.edit(old, extension=".md")
    if new is not None and not old.endswith("\n"):
        new = new.removesuffix("\n")  # editors add a final newline
    return {} if new is None or new == old else {"text": new}


def _change(note: dict[str, Any], change: dict[str, Any], data_dir: str | None) -> Any:
    headers = {"If-Match": f'"{note["revision"]}"'}
    wait = {"wait": "indexed", "wait_seconds": WAIT_SECONDS}

    async def write(store: Store) -> Any:
        return await store.call("PATCH", _path(note["note_id"]), change, wait, headers=headers)

    try:
        return with_store(data_dir, write)
    except NurError as error:
        saved = f" Your text is saved in {_save(change['text'])}" if "text" in change else ""
        if isinstance(error, Conflict):
            message = f"{note['note_id']} was changed by another writer in the meantime; nothing was written."
            raise Conflict(message + saved) from error
        raise type(error)(f"{error}{saved}") from error


def _save(text: str) -> str:
    """Save the text in a temporary file that is not deleted; returns its path."""
    with tempfile.NamedTemporaryFile("w", prefix="nur-", suffix=".md", delete=False, encoding="utf-8") as file:
        file.write(text)
    return file.name
