"""Run checks, collect their results, and show them as a table or JSON."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator


class Result(StrEnum):
    """How a check ended."""

    OK = "ok"
    NOTE = "note"  #: it works, with a remark
    FAILED = "failed"
    SKIPPED = "skipped"  #: it could not be run


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check: what was examined, the result, and what to do about it."""

    check: str
    result: Result
    detail: str = ""
    hint: str = ""
    seconds: float | None = None  #: None: not measured

    def as_dict(self) -> dict[str, Any]:
        """The result for JSON, with its time in milliseconds."""
        fields = asdict(self)
        seconds = fields.pop("seconds")
        return fields | {"ms": None if seconds is None else round(seconds * 1000, 1)}


class CheckFailed(Exception):
    """A check failed: what was found, and how to fix it."""

    def __init__(self, detail: str, hint: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint


@dataclass(slots=True)
class CheckRun:
    """Runs checks one by one and collects their results."""

    findings: list[CheckResult] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether any check failed."""
        return any(finding.result is Result.FAILED for finding in self.findings)

    def note(self, check: str, result: Result, detail: str = "", hint: str = "") -> None:
        """Add a result without a time."""
        self.findings.append(CheckResult(check, result, detail, hint))

    @contextmanager
    def check(self, name: str) -> Iterator[list[str]]:
        """Time the block as one check; CheckFailed makes it fail. Strings appended to the list are its detail."""
        details: list[str] = []
        started = time.perf_counter()
        try:
            yield details
        except CheckFailed as error:
            finding = CheckResult(name, Result.FAILED, error.detail, error.hint, time.perf_counter() - started)
        else:
            finding = CheckResult(name, Result.OK, "; ".join(details), seconds=time.perf_counter() - started)
        self.findings.append(finding)


_STYLES = {Result.OK: "green", Result.NOTE: "yellow", Result.FAILED: "bold red", Result.SKIPPED: "dim"}


def table(checks: CheckRun) -> Table:
    """One row per check, with its hint below the detail. Texts from outside are never read as markup."""
    shown = Table(box=None, pad_edge=False)
    shown.add_column("check", style="bold", no_wrap=True)
    shown.add_column("result", no_wrap=True)
    shown.add_column("ms", justify="right", no_wrap=True)
    shown.add_column("detail, and what to do", overflow="fold")
    for finding in checks.findings:
        shown.add_row(
            finding.check,
            Text(finding.result, style=_STYLES[finding.result]),
            "" if finding.seconds is None else f"{finding.seconds * 1000:.0f}",
            Text(finding.detail).append(f"\n→ {finding.hint}" if finding.hint else "", style="yellow"),
        )
    return shown


def as_json(checks: CheckRun) -> str:
    """All results as JSON."""
    results = [finding.as_dict() for finding in checks.findings]
    return json.dumps({"ok": not checks.failed, "checks": results}, indent=2)
