"""nur ingest."""

from __future__ import annotations

import hashlib
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from nur.domain.errors import BadRequest
from nur.domain.notes import ARTIFACT_TYPES
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_store
from nur.entrypoints.cli.ingesting.discover import Discovery, FileFilter, FoundFile, Skipped
from nur.entrypoints.cli.ingesting.send import DocumentFields, IngestReport, send_all, send_bytes, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nur.entrypoints.cli.client import Store


POLL_SECONDS = 2.0

SOME_FAILED = 1
STDIN = "-"


def watch_changes(
    discover: Callable[[], list[FoundFile]], known: Sequence[FoundFile], pause: Callable[[float], None] = time.sleep
) -> Iterator[list[FoundFile]]:
    """Poll for ever and yield new and changed files; a file that is still being written waits for the next poll."""
    ingested = {file.path: file for file in known}
    previous = dict(ingested)
    while True:
        pause(POLL_SECONDS)
        current = {file.path: file for file in discover()}
        settled = [file for path, file in current.items() if ingested.get(path) != file and previous.get(path) == file]
        previous = dict(current)
        if settled:
            ingested.update((file.path, file) for file in settled)
            yield settled


@click.command()
@click.argument("path", nargs=-1, required=True)
@click.option("--include", multiple=True, metavar="GLOB", help="Only these files of a folder; may be repeated.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Skip these files and folders; may be repeated.")
@click.option("--all", "everything", is_flag=True, help="Also hidden files, and files that .gitignore excludes.")
@click.option("--watch", is_flag=True, help="Keep watching and ingest new and changed files, until Ctrl-C.")
@click.option("--dry-run", is_flag=True, help="List what would be ingested, but store nothing.")
@click.option("--project", help="Project of the documents.")
@click.option(
    "--type",
    "kind",
    type=click.Choice(ARTIFACT_TYPES),
    help="Type of the documents. Default: detected per file.",
)
@click.option("--source", help="Where the documents come from. Default: `file`, or what a file itself states.")
@click.option("--name", help="File name for standard input; its extension gives the format.")
@json_option
@data_dir_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    path: tuple[str, ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    everything: bool,
    watch: bool,
    dry_run: bool,
    name: str | None,
    as_json: bool,
    data_dir: str | None,
    **options: str | None,
) -> None:
    """Store files: documents, mail, tables, code, chat exports.

    PATH is a file, a folder, a pattern in quotes, or - for standard input. It can be run again at any time: unchanged
    files are not stored again.

    Exit code 1: some files could not be ingested.
    """
    metadata = DocumentFields(options["project"], options["kind"], options["source"])
    report = IngestReport()
    if STDIN in path:
        if len(path) > 1 or dry_run or watch:
            raise BadRequest("- cannot be combined with other files, --dry-run or --watch.")
        _stdin(data_dir, name, metadata, report)
    else:
        file_filter = FileFilter(include, exclude, everything)
        files = _discover(path, file_filter, report)
        if dry_run:
            _show_plan(files, report, as_json=as_json)
            ctx.exit(SOME_FAILED if report.failed else 0)
        _ingest(files, data_dir, metadata, report, quiet=as_json)
    render.as_json(report.as_json()) if as_json else report.show()
    if watch:
        _watch(path, file_filter, files, data_dir, metadata)
    ctx.exit(SOME_FAILED if report.failed else 0)


def _ingest(
    files: list[FoundFile], data_dir: str | None, metadata: DocumentFields, report: IngestReport, *, quiet: bool
) -> None:
    if not files:
        return
    try:
        with_store(data_dir, lambda store: send_all(store, files, metadata, report, quiet=quiet))
    except KeyboardInterrupt:
        stored = f"{report.files.total():,} of {len(files):,} files are stored"
        click.echo(f"Interrupted: {stored}. Run it again to continue; stored files are skipped.", err=True)
        raise


def _watch(
    paths: tuple[str, ...],
    file_filter: FileFilter,
    known: list[FoundFile],
    data_dir: str | None,
    metadata: DocumentFields,
) -> None:
    """Ingest changed files. Each batch connects to the store again, so a server may start or stop in between."""
    click.echo("Watching. Stop with Ctrl-C.", err=True)
    for changed in watch_changes(lambda: _discover(paths, file_filter, IngestReport()), known):
        report = IngestReport()
        _ingest(changed, data_dir, metadata, report, quiet=True)
        for file in changed:
            click.echo(f"{report.outcomes.get(file.path, 'failed')}  {shown(file.path)}")
        for failed in report.failed:
            click.echo(f"Failed: {shown(failed.path)}: {failed.reason}")


def _discover(paths: tuple[str, ...], file_filter: FileFilter, report: IngestReport) -> list[FoundFile]:
    """The files to ingest; skipped and unreadable ones are added to the report."""
    files: list[FoundFile] = []
    for result in Discovery(file_filter)(paths):
        if isinstance(result, FoundFile):
            files.append(result)
        elif isinstance(result, Skipped):
            report.skip(result)
        else:
            report.fail(result)
    return files


def _stdin(data_dir: str | None, name: str | None, metadata: DocumentFields, report: IngestReport) -> None:
    """Ingest standard input. Without a name, the source id is made of the contents: other text, other document."""
    data = sys.stdin.buffer.read()
    source_id = name or f"stdin/{hashlib.sha256(data).hexdigest()[:16]}"

    async def send(store: Store) -> Any:
        return await send_bytes(store, name or "standard input", source_id, data, metadata)

    report.stored(with_store(data_dir, send))


def _show_plan(files: list[FoundFile], report: IngestReport, *, as_json: bool) -> None:
    if as_json:
        planned = [{"path": file.source_id, "bytes": file.size} for file in files]
        render.as_json({"would_ingest": planned, **{key: report.as_json()[key] for key in ("skipped", "failed")}})
        return
    for file in files:
        click.echo(f"{file.size:>12,}  {shown(file.path)}")
    click.echo(f"{len(files):,} files would be ingested, {report.skipped.total():,} skipped; nothing was stored.")
    for failed in report.failed:
        click.echo(f"Failed: {shown(failed.path)}: {failed.reason}")
