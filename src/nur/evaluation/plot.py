"""Draw evaluations as a bar chart in SVG, one group of bars per data set."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from nur.evaluation.table import figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nur.evaluation.report import Report

LABELS, BARS, FIGURES = 250, 480, 60  #: widths, in pixels
BAR, GAP, TOP, BOTTOM = 16, 14, 44, 28  #: heights
COLOURS = ("#1f6f78", "#b9c2c9", "#8d9aa5", "#d8c9a8")  #: Nur, then its baselines
INK, GRID = "#22303a", "#dde3e7"


def svg(reports: Sequence[Report]) -> str:
    """Chart of each data set's headline metric, for Nur and its baselines, with 95 % intervals."""
    shown = [report for report in reports if report.scored()]
    height = TOP + BOTTOM + sum(BAR * len(report.systems) + GAP for report in shown)
    width = LABELS + BARS + FIGURES
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{INK}" role="img">'
    )
    parts = [
        opening,
        "<title>Retrieval quality by data set</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *_legend(shown),
        *_grid(height),
    ]
    top = TOP
    for report in shown:
        parts += _bars(report, top)
        top += BAR * len(report.systems) + GAP
    return "\n".join([*parts, "</svg>", ""])


def _x(value: float) -> float:
    return round(LABELS + BARS * min(max(value, 0.0), 1.0), 1)


def _legend(reports: Sequence[Report]) -> Iterator[str]:
    names = list(dict.fromkeys(system.system for report in reports for system in report.systems))
    for index, name in enumerate(names):
        left = LABELS + 120 * index
        yield f'<rect x="{left}" y="10" width="12" height="12" fill="{COLOURS[index % len(COLOURS)]}"/>'
        yield f'<text x="{left + 18}" y="20">{escape(name)}</text>'


def _grid(height: int) -> Iterator[str]:
    for tenth in range(0, 11, 2):
        x = _x(tenth / 10)
        yield f'<line x1="{x}" y1="{TOP - 8}" x2="{x}" y2="{height - BOTTOM}" stroke="{GRID}"/>'
        yield f'<text x="{x}" y="{height - 10}" text-anchor="middle">{tenth / 10:.1f}</text>'


def _bars(report: Report, top: int) -> Iterator[str]:
    middle = top + BAR * len(report.systems) / 2 + 4
    label = f"{report.data.name} · {report.headline}"
    yield f'<text x="{LABELS - 8}" y="{middle}" text-anchor="end">{escape(label)}</text>'
    for index, system in enumerate(report.systems):
        interval = report.interval(system, report.headline)
        if interval is None:
            continue
        y = top + BAR * index
        centre = y + BAR / 2
        yield (
            f'<rect x="{LABELS}" y="{y + 1}" width="{round(_x(interval.mean) - LABELS, 1)}" height="{BAR - 2}" '
            f'fill="{COLOURS[index % len(COLOURS)]}"><title>{escape(system.system)} {figure(interval.mean)} '
            f"[{figure(interval.low)}, {figure(interval.high)}]</title></rect>"
        )
        yield f'<path d="M{_x(interval.low)} {centre}H{_x(interval.high)}" stroke="{INK}" stroke-width="1.5"/>'
        yield f'<text x="{LABELS + BARS + 8}" y="{centre + 4}">{figure(interval.mean)}</text>'
