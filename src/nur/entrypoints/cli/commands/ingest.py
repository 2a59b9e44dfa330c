"""nur ingest."""

from __future__ import annotations

import hashlib
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from nur.domain.errors import BadRequest
from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.client import data_dir_option, json_option, with_store
from nur.entrypoints.cli.ingesting.discover import Choice, Discovery, Found, Skipped
from nur.entrypoints.cli.ingesting.send import Described, IngestReport, send_all, send_bytes, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nur.entrypoints.cli.client import Store


LOOK_SECONDS = 2.0

SOME_FAILED = 1
STDIN = "-"


def changes(
    look: Callable[[], list[Found]], known: Sequence[Found], pause: Callable[[float], None] = time.sleep
) -> Iterator[list[Found]]:
    """Files that are new or changed, look by look, for ever; a file that is still being written waits for the next."""
    done = {found.path: found for found in known}
    before = dict(done)
    while True:
        pause(LOOK_SECONDS)
        now = {found.path: found for found in look()}
        settled = [found for path, found in now.items() if done.get(path) != found and before.get(path) == found]
        before = dict(now)
        if settled:
            done.update((found.path, found) for found in settled)
            yield settled


@click.command()
@click.argument("path", nargs=-1, required=True)
@click.option("--include", multiple=True, metavar="GLOB", help="Of folders, these files alone; may be given again.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these out; may be given again.")
@click.option("--all", "everything", is_flag=True, help="Also hidden files, and what .gitignore leaves out.")
@click.option("--watch", is_flag=True, help="Then go on: ingest what is new or changed, until Ctrl-C.")
@click.option("--dry-run", is_flag=True, help="Say what would be ingested; store nothing.")
@click.option("--project", help="Project of the documents.")
@click.option(
    "--type",
    "kind",
    type=click.Choice(["email", "doc", "chat", "transcript", "note"]),
    help="What they are; else as each file says.",
)
@click.option("--source", help="Where they are from; else `file`, or as each file says.")
@click.option("--name", help="File name of standard input: its ending says what it is.")
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
    **said: str | None,
) -> None:
    """Store files: documents, mail, tables, code, chat exports.

    PATH is a file, a folder, a pattern in quotes, or - for standard input. Run it again at any time: what is stored
    and has not changed is left as it is.

    Exit code 1: some files could not be ingested.
    """
    described = Described(said["project"], said["kind"], said["source"])
    report = IngestReport()
    if STDIN in path:
        if len(path) > 1 or dry_run or watch:
            raise BadRequest("- stands alone: other files, --dry-run and --watch need a run of their own.")
        _stdin(data_dir, name, described, report)
    else:
        choice = Choice(include, exclude, everything)
        found = _found(path, choice, report)
        if dry_run:
            _show_plan(found, report, as_json=as_json)
            ctx.exit(SOME_FAILED if report.failed else 0)
        _ingest(found, data_dir, described, report, quiet=as_json)
    showing.as_json(report.as_json()) if as_json else report.show()
    if watch:
        _watch(path, choice, found, data_dir, described)
    ctx.exit(SOME_FAILED if report.failed else 0)


def _ingest(
    found: list[Found], data_dir: str | None, described: Described, report: IngestReport, *, quiet: bool
) -> None:
    if not found:
        return
    try:
        with_store(data_dir, lambda store: send_all(store, found, described, report, quiet=quiet))
    except KeyboardInterrupt:
        stored = f"{report.files.total():,} of {len(found):,} files are stored"
        click.echo(f"Interrupted: {stored}. Run it again to go on; these are not read again.", err=True)
        raise


def _watch(
    paths: tuple[str, ...], choice: Choice, known: list[Found], data_dir: str | None, described: Described
) -> None:
    """Ingest what changes. Each change connects to the store again, so a server may start or stop meanwhile."""
    click.echo("Watching. Ctrl-C ends it.", err=True)
    for changed in changes(lambda: _found(paths, choice, IngestReport()), known):
        report = IngestReport()
        _ingest(changed, data_dir, described, report, quiet=True)
        for file in changed:
            click.echo(f"{report.outcomes.get(file.path, 'failed')}  {shown(file.path)}")
        for failed in report.failed:
            click.echo(f"Failed: {shown(failed.path)}: {failed.reason}")


def _found(paths: tuple[str, ...], choice: Choice, report: IngestReport) -> list[Found]:
    """The files; what is left out or cannot be read goes into the report."""
    files: list[Found] = []
    for met in Discovery(choice)(paths):
        if isinstance(met, Found):
            files.append(met)
        elif isinstance(met, Skipped):
            report.skip(met)
        else:
            report.fail(met)
    return files


def _stdin(data_dir: str | None, name: str | None, described: Described, report: IngestReport) -> None:
    """Without a name the contents are the identity: two texts from standard input are two documents."""
    data = sys.stdin.buffer.read()
    source_id = name or f"stdin/{hashlib.sha256(data).hexdigest()[:16]}"

    async def send(store: Store) -> Any:
        return await send_bytes(store, name or "standard input", source_id, data, described)

    report.stored(with_store(data_dir, send))


def _show_plan(found: list[Found], report: IngestReport, *, as_json: bool) -> None:
    if as_json:
        planned = [{"path": file.source_id, "bytes": file.size} for file in found]
        showing.as_json({"would_ingest": planned, **{key: report.as_json()[key] for key in ("skipped", "failed")}})
        return
    for file in found:
        click.echo(f"{file.size:>12,}  {shown(file.path)}")
    click.echo(f"{len(found):,} files would be ingested, {report.skipped.total():,} skipped; nothing was stored.")
    for failed in report.failed:
        click.echo(f"Failed: {shown(failed.path)}: {failed.reason}")
