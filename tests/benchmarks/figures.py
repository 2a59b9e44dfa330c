"""Benchmark results: a figure, its yardstick, and its target."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table."""

    benchmark: str
    what: str
    value: float
    unit: str
    beside: float | None = None  #: the yardstick, in the same unit
    yardstick: str = ""
    target: str = ""  #: as text; nothing is asserted

    @property
    def ratio(self) -> float | None:
        """The figure divided by its yardstick."""
        return None if not self.beside else self.value / self.beside


@dataclass(slots=True)
class Report:
    """Collects the figures of one run."""

    figures: list[Figure] = field(default_factory=list)
    benchmark: str = ""  #: the running benchmark

    def add(
        self,
        what: str,
        value: float,
        unit: str = "ms",
        *,
        beside: float | None = None,
        yardstick: str = "",
        target: str = "",
    ) -> None:
        """Add a figure."""
        self.figures.append(Figure(self.benchmark, what, value, unit, beside, yardstick, target))

    def table(self) -> Table:
        """The figures as a table for people."""
        shown = Table(box=None, pad_edge=False)
        for name, justify in (("benchmark", "left"), ("what", "left"), ("figure", "right")):
            shown.add_column(name, justify=justify)  # type: ignore[arg-type]  # one of rich's words
        for name in ("yardstick", "ratio"):
            shown.add_column(name, justify="right")
        shown.add_column("target")
        for figure in self.figures:
            beside = "" if figure.beside is None else f"{figure.yardstick} {_number(figure.beside)}"
            ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}×"
            value = f"{_number(figure.value)} {figure.unit}"
            shown.add_row(figure.benchmark, figure.what, value, beside, ratio, figure.target)
        return shown

    def as_dicts(self) -> list[dict[str, Any]]:
        """The figures as JSON."""
        return [asdict(figure) | {"ratio": figure.ratio} for figure in self.figures]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.2f}"


def percentile(samples: Sequence[float], share: float) -> float:
    """The sample below which this share of the others lies."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def ms(seconds: float) -> float:
    """Milliseconds."""
    return seconds * 1000


def median_ms(samples: Sequence[float]) -> float:
    """The median, in milliseconds."""
    return ms(statistics.median(samples))
