"""What checks found, and how it is shown."""

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
    NOTE = "note"  #: works; there is something to know
    FAILED = "failed"
    SKIPPED = "skipped"  #: could not be tried


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check: what was examined, the result, and what to do about it."""

    check: str
    result: Result
    detail: str = ""
    hint: str = ""
    seconds: float | None = None  #: None: it took no time worth reporting

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the time in milliseconds."""
        fields = asdict(self)
        seconds = fields.pop("seconds")
        return fields | {"ms": None if seconds is None else round(seconds * 1000, 1)}


class CheckFailed(Exception):
    """A check that did not hold: what was seen, and what helps."""

    def __init__(self, detail: str, hint: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint


@dataclass(slots=True)
class CheckRun:
    """Runs checks one by one and keeps what they found."""

    findings: list[CheckResult] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether anything did not hold."""
        return any(finding.result is Result.FAILED for finding in self.findings)

    def note(self, check: str, result: Result, detail: str = "", hint: str = "") -> None:
        """Keep a finding that needed no measuring."""
        self.findings.append(CheckResult(check, result, detail, hint))

    @contextmanager
    def check(self, name: str) -> Iterator[list[str]]:
        """Measure a check; a Fault inside makes it a failure. What is appended to the list is its detail."""
        seen: list[str] = []
        started = time.perf_counter()
        try:
            yield seen
        except CheckFailed as fault:
            finding = CheckResult(name, Result.FAILED, fault.detail, fault.hint, time.perf_counter() - started)
        else:
            finding = CheckResult(name, Result.OK, "; ".join(seen), seconds=time.perf_counter() - started)
        self.findings.append(finding)


_STYLES = {Result.OK: "green", Result.NOTE: "yellow", Result.FAILED: "bold red", Result.SKIPPED: "dim"}


def table(checks: CheckRun) -> Table:
    """One row per check, with its hint under the finding. Texts from outside are never read as markup."""
    shown = Table(box=None, pad_edge=False)
    shown.add_column("check", style="bold", no_wrap=True)
    shown.add_column("result", no_wrap=True)
    shown.add_column("ms", justify="right", no_wrap=True)
    shown.add_column("found, and what to do", overflow="fold")
    for finding in checks.findings:
        shown.add_row(
            finding.check,
            Text(finding.result, style=_STYLES[finding.result]),
            "" if finding.seconds is None else f"{finding.seconds * 1000:.0f}",
            Text(finding.detail).append(f"\n→ {finding.hint}" if finding.hint else "", style="yellow"),
        )
    return shown


def as_json(checks: CheckRun) -> str:
    """Everything for programs."""
    results = [finding.as_dict() for finding in checks.findings]
    return json.dumps({"ok": not checks.failed, "checks": results}, indent=2)
