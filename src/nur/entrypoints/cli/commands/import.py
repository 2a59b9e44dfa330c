"""nur import."""

from __future__ import annotations

import asyncio
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click
from rich.table import Table

from nur.adapters.importers import formats
from nur.domain.errors import BadRequest, NotFound
from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.client import data_dir_option, json_option, with_store
from nur.entrypoints.cli.converted import Converted
from nur.entrypoints.cli.progress import shown_progress

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractContextManager

    from nur.entrypoints.cli.client import Store

PIECE_BYTES = 1024 * 1024
LOOK_EVERY_SECONDS = 0.2
#: The worker has so long for each note: a provider that is down is left to the next server.
PATIENCE_SECONDS = 20.0
_COUNTS = ("created", "updated", "unchanged", "kept", "failed")


@click.command()
@click.argument("source")
@click.option(
    "--from",
    "name",
    type=click.Choice([formats.NUR, *formats.FORMATS]),
    help="The format of SOURCE; else it is found out.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and store nothing.")
@json_option
@data_dir_option
@click.pass_context
def command(
    ctx: click.Context, source: str, name: str | None, dry_run: bool, as_json: bool, data_dir: str | None
) -> None:
    """Store the notes of SOURCE: a file or a folder that nur export wrote, or what another memory program wrote.

    - reads an export from standard input. Ids, previous texts, the trash and times of an export stay as they were.
    What is stored already stays: an import that was interrupted is simply run again. Exit code 1: something was not
    imported.
    """
    path = None if source == "-" else Path(source)
    if path is not None and not path.exists():
        raise NotFound(f"There is no file {source}.")
    converted = _converted(path, name)

    async def send(store: Store) -> Any:
        with shown_progress(quiet=as_json) as progress:
            task = progress.add_task("importing", total=None if path is None or converted else path.stat().st_size)
            own = _pieces(path, lambda size: progress.update(task, advance=size))
            report = await store.import_lines(own if converted is None else converted.pieces(), dry_run=dry_run)
        if store.is_own and not dry_run:
            await _embed(store, quiet=as_json)
        return report if converted is None else converted.with_places(report)

    report = with_store(data_dir, send)
    showing.as_json(report) if as_json else _show(report, dry_run=dry_run)
    ctx.exit(1 if report["failed"] or not report["complete"] else 0)


def _converted(path: Path | None, name: str | None) -> Converted | None:
    """The source in the format of an export; None: it is one."""
    found = name or (formats.NUR if path is None else formats.guess(path))
    if found == formats.NUR:
        return None
    if path is None:
        raise BadRequest(f"Name a file or a folder: standard input is read as {formats.NUR} alone.")
    return Converted(formats.read(path, found))


async def _pieces(path: Path | None, sent: Callable[[int], None]) -> AsyncIterator[bytes]:
    with _opened(path) as file:
        while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
            yield piece
            sent(len(piece))


def _opened(path: Path | None) -> AbstractContextManager[IO[bytes]]:
    try:
        return nullcontext(sys.stdin.buffer) if path is None else path.open("rb")
    except OSError as error:
        raise BadRequest(f"Cannot read {path} ({error.strerror}).") from error


async def _embed(store: Store, *, quiet: bool) -> None:
    """Let the worker of this process embed before it leaves; what is left is the next server's."""
    waiting = await _pending(store)
    with shown_progress(quiet=quiet) as progress:
        task = progress.add_task("embedding", total=waiting)
        patience = PATIENCE_SECONDS
        while waiting and patience > 0:
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            left = await _pending(store)
            patience = PATIENCE_SECONDS if left < waiting else patience - LOOK_EVERY_SECONDS
            waiting = left
            progress.update(task, completed=(progress.tasks[task].total or 0) - waiting)
    if waiting and not quiet:
        click.echo(f"{waiting} notes wait to be embedded; the next server does it.", err=True)


async def _pending(store: Store) -> int:
    return int((await store.call("GET", "/v2/admin/outbox"))["pending"])


def _show(report: dict[str, Any], *, dry_run: bool) -> None:
    shown = Table(box=None, pad_edge=False, show_header=False)
    for name in _COUNTS:
        shown.add_row(f"would be {name}" if dry_run and name in ("created", "updated") else name, str(report[name]))
    showing.table(shown)
    for failure in report["failures"]:
        place = showing.one_line(failure.get("place") or f"line {failure['line']}")
        click.echo(f"{place}: {showing.one_line(failure['reason'], 300)}", err=True)
    if report["failed"] > len(report["failures"]):
        click.echo(f"and {report['failed'] - len(report['failures'])} more", err=True)
    if not report["complete"]:
        click.echo("The file ends early: it was cut, or its last line (end) counts other notes.", err=True)
