"""Send files to the store concurrently, show progress, and report the outcome of each."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from nur.domain.errors import NurError
from nur.entrypoints.cli import render
from nur.entrypoints.cli.ingesting.discover import Failed, FoundFile, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from nur.entrypoints.cli.client import Store
    from nur.entrypoints.cli.ingesting.discover import Skipped


OUTCOMES = ("created", "replaced", "metadata_updated", "unchanged")
_SHOWN_FAILURES = 20

#: Concurrent uploads: one file is parsed while others are stored.
CONCURRENCY = 4
#: Between two progress lines, if standard error is not a terminal.
LINE_SECONDS = 10.0
PATH = "/v2/artifacts"
POLL_SECONDS = 0.2
#: Stop waiting for the worker if it embeds nothing for this long: its provider is down.
STALLED_SECONDS = 15.0


@dataclass(slots=True)
class IngestReport:
    """Outcome of a run, counted while it goes on."""

    files: Counter[str] = field(default_factory=Counter)  #: by outcome
    documents: Counter[str] = field(default_factory=Counter)  #: by outcome
    skipped: Counter[str] = field(default_factory=Counter)  #: by reason
    failed: list[Failed] = field(default_factory=list)
    outcomes: dict[Path, str] = field(default_factory=dict)

    def stored(self, receipt: dict[str, Any], path: Path | None = None) -> None:
        """Count the server's response to one file."""
        self.files[receipt["operation"]] += 1
        if path is not None:
            self.outcomes[path] = receipt["operation"]
        for outcome in OUTCOMES:
            self.documents[outcome] += receipt[outcome]

    def skip(self, skipped: Skipped) -> None:
        """Count a skipped file."""
        self.skipped[skipped.reason] += 1

    def fail(self, failed: Failed) -> None:
        """Add a failure."""
        self.failed.append(failed)

    def as_json(self) -> dict[str, Any]:
        """The whole report, for `--json`."""
        return {
            "files": {outcome: self.files[outcome] for outcome in OUTCOMES},
            "documents": {outcome: self.documents[outcome] for outcome in OUTCOMES},
            "skipped": dict(sorted(self.skipped.items())),
            "failed": [{"path": printable(str(failed.path)), "reason": failed.reason} for failed in self.failed],
        }

    def show(self) -> None:
        """Print a table of the counts, then the failures."""
        table = Table(box=None, pad_edge=False)
        table.add_column("")
        table.add_column("files", justify="right")
        table.add_column("documents", justify="right")
        for outcome in OUTCOMES:
            name = outcome.replace("_", " ")
            table.add_row(name, f"{self.files[outcome]:,}", f"{self.documents[outcome]:,}")
        table.add_row("skipped", f"{self.skipped.total():,}", "")
        table.add_row("failed", f"{len(self.failed):,}", "")
        render.table(table)
        if self.skipped:
            click.echo(f"Skipped: {', '.join(f'{reason} {count:,}' for reason, count in self.skipped.most_common())}")
        for failed in self.failed[:_SHOWN_FAILURES]:
            click.echo(f"Failed: {shown(failed.path)}: {render.one_line(failed.reason, 300)}")
        if len(self.failed) > _SHOWN_FAILURES:
            click.echo(f"… and {len(self.failed) - _SHOWN_FAILURES:,} more; --json lists all.")


def shown(path: Path) -> str:
    """A path that is safe to print on one line of a terminal."""
    return render.harmless(printable(str(path))).replace("\n", "\N{REPLACEMENT CHARACTER}")


@dataclass(frozen=True, slots=True)
class DocumentFields:
    """Metadata that every file of a run gets."""

    project: str | None = None
    type: str | None = None
    source: str | None = None

    def fields(self, **more: str) -> dict[str, str]:
        """Form fields of an upload; empty ones are left out."""
        fields = {"project": self.project, "artifact_type": self.type, "source_system": self.source, **more}
        return {name: value for name, value in fields.items() if value}


async def send_all(
    store: Store, files: Sequence[FoundFile], metadata: DocumentFields, report: IngestReport, *, quiet: bool
) -> None:
    """Send every file; a file that fails is reported and does not stop the others."""
    queue = iter(files)
    with _progress(len(files), quiet=quiet) as advance:

        async def sender() -> None:
            for found in queue:
                await _send(store, found, metadata, report)
                advance()

        async with asyncio.TaskGroup() as group:
            for _ in range(min(CONCURRENCY, len(files))):
                group.create_task(sender())
    await wait_until_indexed(store)


async def wait_until_indexed(store: Store) -> None:
    """Wait while this process's worker makes progress embedding; it ends with the process.

    The rest is embedded when the store is opened again. A running server has its own worker: no wait.
    """
    if not store.is_local:
        return
    least, progress_at = None, monotonic()
    while monotonic() - progress_at < STALLED_SECONDS:
        pending = (await store.call("GET", "/v2/admin/outbox"))["pending"]
        if not pending:
            return
        if least is None or pending < least:
            least, progress_at = pending, monotonic()
        await asyncio.sleep(POLL_SECONDS)


async def _send(store: Store, found: FoundFile, metadata: DocumentFields, report: IngestReport) -> None:
    fields = metadata.fields(
        name=found.name, source_id=found.source_id, source_url=found.path.as_uri(), modified_at=_modified(found) or ""
    )
    try:
        data = await asyncio.to_thread(found.path.read_bytes)
        report.stored(await store.upload(PATH, printable(found.path.name), data, fields), found.path)
    except OSError as error:
        report.fail(Failed(found.path, f"{error.strerror or 'It cannot be read'}."))
    except NurError as error:
        report.fail(Failed(found.path, str(error)))


def _modified(found: FoundFile) -> str | None:
    """Modification time in ISO 8601; None if it is out of range."""
    try:
        return datetime.fromtimestamp(found.modified_ns / 1e9, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


async def send_bytes(store: Store, name: str, source_id: str, data: bytes, metadata: DocumentFields) -> Any:
    """Send data that is not from a file, such as standard input. Raises NurError."""
    receipt = await store.upload(PATH, name, data, metadata.fields(name=name, source_id=source_id))
    await wait_until_indexed(store)
    return receipt


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """Show progress, rate and remaining time on standard error."""
    console = Console(stderr=True)
    if quiet or not total:
        yield lambda: None
    elif console.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as shown:
            task, began = shown.add_task("files", total=total), monotonic()

            def advance() -> None:
                shown.advance(task)
                rate = shown.tasks[0].completed / max(monotonic() - began, 0.001)
                shown.update(task, description=f"{rate:.1f} files/s")

            yield advance
    else:
        yield _Lines(total)


class _Lines:
    """Prints a progress line every ten seconds."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._began = self._last = monotonic()

    def __call__(self) -> None:
        self._done += 1
        now = monotonic()
        if now - self._last >= LINE_SECONDS:
            self._last = now
            rate = self._done / (now - self._began)
            left = (self._total - self._done) / rate
            click.echo(f"{self._done:,} of {self._total:,} files, {rate:.1f}/s, {left:.0f} s left", err=True)
