"""Show evaluations as tables on the terminal."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Literal

from rich.box import HEAVY_HEAD, SIMPLE
from rich.table import Table

from nur.evaluation.injection import INJECTED, INJECTED_GOLD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nur.evaluation.measuring import Measured
    from nur.evaluation.report import Difference, Part, Report

NOTHING = "–"
OTHER_COLUMNS = 5  #: columns after the metrics


def tables(reports: Sequence[Report], *, by_category: bool, halves: bool, narrow: bool = False) -> Iterator[Table]:
    """One table per group of data sets with the same metrics; `narrow` tables fit 80 columns."""
    for metrics in dict.fromkeys(report.metrics for report in reports):
        chosen = [report for report in reports if report.metrics == metrics]
        if chosen:
            yield _table(chosen, _rows(chosen, by_category=by_category, halves=halves), narrow=narrow)


def _table(reports: Sequence[Report], rows: Sequence[tuple[list[str], str | None]], *, narrow: bool) -> Table:
    first = reports[0]
    conditions = first.conditions
    table = Table(
        title=f"{conditions.embedding_version} · chunks: {conditions.chunking} · {conditions.mode} · "
        f"{conditions.max_chars} characters · {conditions.limit} hits",
        title_justify="left",
        pad_edge=False,
        box=SIMPLE if narrow else HEAVY_HEAD,
        padding=(0, 0) if narrow else (0, 1),
    )
    names = [
        "set",
        "system",
        "n",
        *map(_short, first.metrics),
        "AUROC",
        "false@95",
        "off-topic",
        "p50 ms",
        "CPU ms",
    ]
    shown = [column for column in range(len(names)) if not narrow or _has_values([row[column] for row, _ in rows])]
    for column in shown:
        table.add_column(_stacked(names[column]) if narrow else names[column], justify=_justified(column), no_wrap=True)
    for row, style in rows:
        if row[0] and not row[0].startswith(" ") and table.row_count:
            table.add_section()
        table.add_row(*(_stacked(row[column]) if narrow else row[column] for column in shown), style=style)
    return table


def _rows(reports: Sequence[Report], *, by_category: bool, halves: bool) -> list[tuple[list[str], str | None]]:
    """Cells and style of each row; the first row of a data set has its name."""
    rows: list[tuple[list[str], str | None]] = []
    for report in reports:
        rows += [(row, None) for row in _set_rows(report)]
        parts = [*(report.categories() if by_category else ()), *(report.halves() if halves else ())]
        for part in parts:
            rows += [(row, None if row[1] == report.nur.system else "dim") for row in _part_rows(report, part)]
    return rows


def _has_values(cells: Sequence[str]) -> bool:
    return any(cell not in ("", NOTHING) for cell in cells)


def _stacked(cell: str) -> str:
    """Break a cell into two lines at @ or a space, except an indented one."""
    return cell.replace("@", "\n@").replace(" ", "\n") if not cell.startswith(" ") else cell


def _justified(column: int) -> Literal["left", "right"]:
    return "left" if column < 2 else "right"


def _short(metric: str) -> str:
    return metric.removeprefix("span_").replace("passage_", "")


def _set_rows(report: Report) -> Iterator[list[str]]:
    for system in report.systems:
        name = report.data.name if system is report.nur else ""
        means = system.mean(report.data.questions)
        yield [
            name,
            system.system,
            str(len(system.scores)),
            *(figure(means.get(metric)) for metric in report.metrics),
            figure(system.abstention(report.data)),
            figure(system.false_answers(report.data)),
            figure(system.off_topic()),
            *_timings(system),
        ]
    for baseline in report.baselines:
        differences = [report.difference(baseline, metric) for metric in report.metrics]
        yield ["", f"over {baseline.system}", "", *map(_signed, differences), *[""] * OTHER_COLUMNS]
        yield ["", "95 %", "", *map(_interval, differences), *[""] * OTHER_COLUMNS]


def injection_line(report: Report) -> str | None:
    """How often hooks would add passages to prompts; None for a data set whose gold is not rows."""
    means = report.nur.mean(report.data.questions)
    if INJECTED not in means:
        return None
    return (
        f"{report.data.name}: a hook would add passages to {figure(means[INJECTED])} of the prompts that memory can "
        f"answer, with a right one in {figure(means.get(INJECTED_GOLD))} of these, and to "
        f"{figure(report.nur.injected_off_topic(report.data))} of the off-topic prompts."
    )


def _part_rows(report: Report, part: Part) -> Iterator[list[str]]:
    for system in report.systems:
        means = system.mean(part.questions)
        count = len(report.scored(part.questions))
        figures = [figure(means.get(metric)) for metric in report.metrics]
        yield [
            f"  {part.name}" if system is report.nur else "",
            system.system,
            str(count),
            *figures,
            *[""] * OTHER_COLUMNS,
        ]


def _timings(system: Measured) -> list[str]:
    """Median latency and CPU time of a search, in milliseconds; empty for baselines."""
    if not any(system.seconds):
        return ["", ""]
    return [f"{median(system.seconds) * 1000:.1f}", f"{median(system.cpu_seconds) * 1000:.1f}"]


def figure(value: float | None) -> str:
    """A figure with three decimals, without a leading zero: .731."""
    return NOTHING if value is None else f"{value:.3f}".replace("0.", ".", 1) if value < 1 else f"{value:.3f}"


def _sign(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)


def _signed(difference: Difference | None) -> str:
    return NOTHING if difference is None else _sign(difference.mean)


def _interval(difference: Difference | None) -> str:
    return "" if difference is None else f"{_sign(difference.low)} {_sign(difference.high)}"
