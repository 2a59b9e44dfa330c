"""How findings are shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from nur.diagnostics.findings import Result

if TYPE_CHECKING:
    from nur.diagnostics.findings import CheckRun

_STYLES = {Result.OK: "green", Result.NOTE: "yellow", Result.FAILED: "bold red", Result.SKIPPED: "dim"}


def table(examination: CheckRun) -> Table:
    """One row per check, with its hint under the finding. Texts from outside are never read as markup."""
    shown = Table(box=None, pad_edge=False)
    shown.add_column("check", style="bold", no_wrap=True)
    shown.add_column("result", no_wrap=True)
    shown.add_column("ms", justify="right", no_wrap=True)
    shown.add_column("found, and what to do", overflow="fold")
    for finding in examination.findings:
        shown.add_row(
            finding.check,
            Text(finding.result, style=_STYLES[finding.result]),
            "" if finding.seconds is None else f"{finding.seconds * 1000:.0f}",
            Text(finding.detail).append(f"\n→ {finding.hint}" if finding.hint else "", style="yellow"),
        )
    return shown


def as_json(examination: CheckRun) -> str:
    """Everything for programs."""
    checks = [finding.as_dict() for finding in examination.findings]
    return json.dumps({"ok": not examination.failed, "checks": checks}, indent=2)
