"""nur export."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from nur.domain.errors import BadRequest, Unavailable
from nur.domain.records import End, decode
from nur.entrypoints.cli.client import data_dir_option, with_existing_store
from nur.entrypoints.cli.markdown_export import export_markdown
from nur.entrypoints.cli.new_file import new_file
from nur.entrypoints.cli.progress import shown_progress
from nur.entrypoints.cli.render import NOTHING_STORED

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from nur.entrypoints.cli.client import Store

STDOUT = "-"
MARKDOWN = "markdown"
#: Bytes kept to read the last line from, which is shorter.
_TAIL_BYTES = 200


@click.command()
@click.option("--output", default=STDOUT, metavar="PATH", help="File or folder to write; - is standard output.")
@click.option(
    "--format",
    "name",
    type=click.Choice(["jsonl", MARKDOWN]),
    default="jsonl",
    show_default=True,
    help="One file with everything, or a folder of Markdown files.",
)
@data_dir_option
def command(output: str, name: str, data_dir: str | None) -> None:
    """Export everything stored, with previous texts and the trash, as one JSON object per line, for nur import.

    Vectors are not exported: nur import embeds the notes again; nur backup keeps them. In Markdown each active note is
    a file with its id and fields in the front matter, without previous texts and the trash.
    """
    if name == MARKDOWN and output == STDOUT:
        raise BadRequest("Give a folder: nur export --format markdown --output notes")
    if output == STDOUT and sys.stdout.isatty():
        raise BadRequest("Give a file: nur export --output notes.jsonl")

    async def export(store: Store) -> int:
        if name == MARKDOWN:
            return await export_markdown(store, Path(output))
        with _opened(output) as file:
            return await _write(store, file)

    notes = with_existing_store(data_dir, export)
    if notes is None:
        raise BadRequest(NOTHING_STORED)
    click.echo(f"{notes} notes exported", err=True)


def _opened(output: str) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(sys.stdout.buffer) if output == STDOUT else new_file(Path(output))


async def _write(store: Store, file: IO[bytes]) -> int:
    """Write all lines and return the number of notes. Raises Unavailable if the last line is missing."""
    tail = b""
    with shown_progress() as progress:
        task = progress.add_task("notes", total=None)
        async for piece in store.export():
            file.write(piece)
            tail = (tail + piece)[-_TAIL_BYTES:]
            progress.update(task, advance=piece.count(b"\n"))
    file.flush()
    return _note_count(tail)


def _note_count(tail: bytes) -> int:
    last: Any = None
    lines = tail.splitlines()
    if lines:
        try:
            last = decode(lines[-1])
        except BadRequest:
            last = None
    if not isinstance(last, End):
        raise Unavailable("The export ended early. Try again.")
    return last.notes
