"""Send files to the store, a few at a time, show progress, and report the results."""

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
from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.ingesting.discover import Failed, Found, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from nur.entrypoints.cli.client import Store
    from nur.entrypoints.cli.ingesting.discover import Skipped


OUTCOMES = ("created", "replaced", "metadata_updated", "unchanged")
_SHOWN_FAILURES = 20

#: Files on their way at once: one is parsed while others are stored.
AT_ONCE = 4
#: Between lines that say how far it is, where there is no terminal.
LINE_SECONDS = 10.0
PATH = "/v2/artifacts"
POLL_SECONDS = 0.2
#: The worker is given up when it has embedded nothing for so long: its provider is down.
STALLED_SECONDS = 15.0


@dataclass(slots=True)
class IngestReport:
    """Counts that grow while a run goes on."""

    files: Counter[str] = field(default_factory=Counter)  #: by outcome
    documents: Counter[str] = field(default_factory=Counter)  #: by outcome
    skipped: Counter[str] = field(default_factory=Counter)  #: by reason
    failed: list[Failed] = field(default_factory=list)
    outcomes: dict[Path, str] = field(default_factory=dict)

    def stored(self, receipt: dict[str, Any], path: Path | None = None) -> None:
        """Count what the server says of a file."""
        self.files[receipt["operation"]] += 1
        if path is not None:
            self.outcomes[path] = receipt["operation"]
        for outcome in OUTCOMES:
            self.documents[outcome] += receipt[outcome]

    def skip(self, left_out: Skipped) -> None:
        """Count what was left out."""
        self.skipped[left_out.reason] += 1

    def fail(self, failed: Failed) -> None:
        """Keep a failure."""
        self.failed.append(failed)

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "files": {outcome: self.files[outcome] for outcome in OUTCOMES},
            "documents": {outcome: self.documents[outcome] for outcome in OUTCOMES},
            "skipped": dict(sorted(self.skipped.items())),
            "failed": [{"path": printable(str(failed.path)), "reason": failed.reason} for failed in self.failed],
        }

    def show(self) -> None:
        """A table, then the failures."""
        table = Table(box=None, pad_edge=False)
        table.add_column("")
        table.add_column("files", justify="right")
        table.add_column("documents", justify="right")
        for outcome in OUTCOMES:
            name = outcome.replace("_", " ")
            table.add_row(name, f"{self.files[outcome]:,}", f"{self.documents[outcome]:,}")
        table.add_row("skipped", f"{self.skipped.total():,}", "")
        table.add_row("failed", f"{len(self.failed):,}", "")
        showing.table(table)
        if self.skipped:
            click.echo(f"Skipped: {', '.join(f'{reason} {count:,}' for reason, count in self.skipped.most_common())}")
        for failed in self.failed[:_SHOWN_FAILURES]:
            click.echo(f"Failed: {shown(failed.path)}: {showing.one_line(failed.reason, 300)}")
        if len(self.failed) > _SHOWN_FAILURES:
            click.echo(f"… and {len(self.failed) - _SHOWN_FAILURES:,} more; --json lists all.")


def shown(path: Path) -> str:
    """A path on one line of a terminal."""
    return showing.harmless(printable(str(path))).replace("\n", "\N{REPLACEMENT CHARACTER}")


@dataclass(frozen=True, slots=True)
class Described:
    """What is said of every file of a run."""

    project: str | None = None
    type: str | None = None
    source: str | None = None

    def fields(self, **more: str) -> dict[str, str]:
        """Of a form."""
        said = {"project": self.project, "artifact_type": self.type, "source_system": self.source, **more}
        return {name: value for name, value in said.items() if value}


async def send_all(
    store: Store, files: Sequence[Found], described: Described, report: IngestReport, *, quiet: bool
) -> None:
    """Send each file. A failure of one is reported and stops no other."""
    waiting = iter(files)
    with _progress(len(files), quiet=quiet) as advance:

        async def sender() -> None:
            for found in waiting:
                await _send(store, found, described, report)
                advance()

        async with asyncio.TaskGroup() as group:
            for _ in range(min(AT_ONCE, len(files))):
                group.create_task(sender())
    await wait_until_indexed(store)


async def wait_until_indexed(store: Store) -> None:
    """Let the worker embed what was stored, while it gets on: it leaves with this process.

    Whatever is left is embedded when the store is opened again.
    """
    if not store.is_own:
        return
    least, since = None, monotonic()
    while monotonic() - since < STALLED_SECONDS:
        pending = (await store.call("GET", "/v2/admin/outbox"))["pending"]
        if not pending:
            return
        if least is None or pending < least:
            least, since = pending, monotonic()
        await asyncio.sleep(POLL_SECONDS)


async def _send(store: Store, found: Found, described: Described, report: IngestReport) -> None:
    fields = described.fields(
        name=found.name, source_id=found.source_id, source_url=found.path.as_uri(), modified_at=_moment(found) or ""
    )
    try:
        data = await asyncio.to_thread(found.path.read_bytes)
        report.stored(await store.upload(PATH, printable(found.path.name), data, fields), found.path)
    except OSError as error:
        report.fail(Failed(found.path, f"{error.strerror or 'It cannot be read'}."))
    except NurError as error:
        report.fail(Failed(found.path, str(error)))


def _moment(found: Found) -> str | None:
    """When the file was last changed; None for a date that no calendar has."""
    try:
        return datetime.fromtimestamp(found.modified_ns / 1e9, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


async def send_bytes(store: Store, name: str, source_id: str, data: bytes, described: Described) -> Any:
    """Send what is no file, such as standard input. Raises NurError."""
    receipt = await store.upload(PATH, name, data, described.fields(name=name, source_id=source_id))
    await wait_until_indexed(store)
    return receipt


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """Say on standard error how far it is, at what rate, and how long it still takes."""
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
    """A line every ten seconds."""

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
