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
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_store
from nur.entrypoints.cli.converted import Converted
from nur.entrypoints.cli.progress import shown_progress

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractContextManager

    from nur.entrypoints.cli.client import Store

PIECE_BYTES = 1024 * 1024
POLL_SECONDS = 0.2
#: Stop waiting for the worker if it embeds nothing for this long: its provider is down.
STALLED_SECONDS = 20.0
_COUNTS = ("created", "updated", "unchanged", "kept", "failed")


@click.command()
@click.argument("source")
@click.option(
    "--from",
    "name",
    type=click.Choice([formats.NUR, *formats.FORMATS]),
    help="Format of SOURCE. Default: detected.",
)
@click.option("--dry-run", is_flag=True, help="Report what would be imported, but store nothing.")
@json_option
@data_dir_option
@click.pass_context
def command(
    ctx: click.Context, source: str, name: str | None, dry_run: bool, as_json: bool, data_dir: str | None
) -> None:
    """Import the notes of SOURCE: a file or folder written by nur export or by another memory program.

    SOURCE - reads an export from standard input. Ids, previous texts, times and the trash of an export are kept.
    Existing notes stay as they are, so an interrupted import can be run again. Exit code 1: some notes were not
    imported.
    """
    path = None if source == "-" else Path(source)
    if path is not None and not path.exists():
        raise NotFound(f"There is no file {source}.")
    converted = _converted(path, name)

    async def send(store: Store) -> Any:
        with shown_progress(quiet=as_json) as progress:
            task = progress.add_task("importing", total=None if path is None or converted else path.stat().st_size)
            exported = _pieces(path, lambda size: progress.update(task, advance=size))
            report = await store.import_lines(exported if converted is None else converted.pieces(), dry_run=dry_run)
        if store.is_local and not dry_run:
            await _wait_until_embedded(store, quiet=as_json)
        return report if converted is None else converted.with_places(report)

    report = with_store(data_dir, send)
    render.as_json(report) if as_json else _show(report, dry_run=dry_run)
    ctx.exit(1 if report["failed"] or not report["complete"] else 0)


def _converted(path: Path | None, name: str | None) -> Converted | None:
    """The source converted to an export; None if it already is one."""
    format_name = name or (formats.NUR if path is None else formats.guess(path))
    if format_name == formats.NUR:
        return None
    if path is None:
        raise BadRequest(f"Give a file or a folder: standard input can only be in the format {formats.NUR}.")
    return Converted(formats.read(path, format_name))


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


async def _wait_until_embedded(store: Store, *, quiet: bool) -> None:
    """Wait while this process's worker makes progress embedding; the next server embeds the rest."""
    pending = await _pending(store)
    with shown_progress(quiet=quiet) as progress:
        task = progress.add_task("embedding", total=pending)
        remaining_seconds = STALLED_SECONDS
        while pending and remaining_seconds > 0:
            await asyncio.sleep(POLL_SECONDS)
            still_pending = await _pending(store)
            remaining_seconds = STALLED_SECONDS if still_pending < pending else remaining_seconds - POLL_SECONDS
            pending = still_pending
            progress.update(task, completed=(progress.tasks[task].total or 0) - pending)
    if pending and not quiet:
        click.echo(f"{pending} notes are not embedded yet; the next server does it.", err=True)


async def _pending(store: Store) -> int:
    return int((await store.call("GET", "/v2/admin/outbox"))["pending"])


def _show(report: dict[str, Any], *, dry_run: bool) -> None:
    shown = Table(box=None, pad_edge=False, show_header=False)
    for name in _COUNTS:
        shown.add_row(f"would be {name}" if dry_run and name in ("created", "updated") else name, str(report[name]))
    render.table(shown)
    for failure in report["failures"]:
        location = render.one_line(failure.get("place") or f"line {failure['line']}")
        click.echo(f"{location}: {render.one_line(failure['reason'], 300)}", err=True)
    if report["failed"] > len(report["failures"]):
        click.echo(f"and {report['failed'] - len(report['failures'])} more", err=True)
    if not report["complete"]:
        click.echo("The file is incomplete: its last line (end) is missing or has another count of notes.", err=True)
