"""What came of a run: counts by outcome, and each failure with its reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.ingesting.discover import printable

if TYPE_CHECKING:
    from pathlib import Path

    from nur.entrypoints.cli.ingesting.discover import Failed, Skipped

OUTCOMES = ("created", "replaced", "metadata_updated", "unchanged")
_SHOWN_FAILURES = 20


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
