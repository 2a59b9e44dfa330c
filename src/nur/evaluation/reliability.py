"""Reliability of confidence: 30 % of the answers with a confidence of .3 should be right."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from rich.table import Table

from nur.evaluation.table import figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nur.evaluation.dataset import LabelledQuestion
    from nur.evaluation.measuring import Measured
    from nur.evaluation.report import Report

BINS = 10
#: Hits that a tool shows by default.
USUAL_LIMIT = 5
#: Metric that tells whether the first hit is right; which one depends on the kind of gold.
FIRST_IS_RIGHT = ("hit@1", "passage_hit@1")
NO_COUNT = "–"
SIDE, EDGE, TITLE = 260, 48, 40  #: of a diagram, in pixels
INK, GRID, DOT = "#22303a", "#dde3e7", "#1f6f78"


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of similar confidence."""

    answers: int
    confidence: float  #: mean
    right: float  #: share whose first hit is right


@dataclass(frozen=True, slots=True)
class Reliability:
    """How well confidence predicts right answers, over some questions."""

    name: str
    bins: tuple[Bin, ...]  #: one per tenth of the scale, without empty ones
    ece: float  #: expected calibration error: mean distance between confidence and share of right answers
    shown: float | None  #: mean hits of an answerable question, at most five each
    shown_unanswerable: float | None  #: the same for questions without an answer


def reliability(name: str, system: Measured, questions: Iterable[LabelledQuestion]) -> Reliability | None:
    """Reliability over those of the questions that were asked; None if none was."""
    asked = [question for question in questions if question.id in system.confidence]
    if not asked:
        return None
    pairs = [(system.confidence[question.id], _is_right(system, question)) for question in asked]
    bins = tuple(_bins(pairs))
    return Reliability(
        name=name,
        bins=bins,
        ece=sum(group.answers * abs(group.confidence - group.right) for group in bins) / len(pairs),
        shown=_mean(system.shown[question.id] for question in asked if question.has_gold),
        shown_unanswerable=_mean(system.shown[question.id] for question in asked if not question.has_gold),
    )


def _is_right(system: Measured, question: LabelledQuestion) -> float:
    scores = system.scores.get(question.id, {})
    return next((scores[name] for name in FIRST_IS_RIGHT if name in scores), 0.0)


def _bins(pairs: Sequence[tuple[float, float]]) -> list[Bin]:
    bins = []
    for index in range(BINS):
        inside = [pair for pair in pairs if min(int(pair[0] * BINS), BINS - 1) == index]
        if inside:
            confidence, right = (sum(values) / len(inside) for values in zip(*inside, strict=True))
            bins.append(Bin(len(inside), confidence, right))
    return bins


def _mean(counts: Iterable[int]) -> float | None:
    shown = [min(count, USUAL_LIMIT) for count in counts]
    return sum(shown) / len(shown) if shown else None


def all_reliabilities(reports: Sequence[Report], *, halves: bool) -> list[Reliability]:
    """Reliability of each data set and, with `halves`, of its halves."""
    results = []
    for report in reports:
        parts = [(report.data.name, report.data.questions)]
        parts += [(f"{report.data.name}, {part.name}", part.questions) for part in report.halves()] if halves else []
        results += [reliability(name, report.nur, questions) for name, questions in parts]
    return [result for result in results if result is not None]


def reliability_table(results: Sequence[Reliability]) -> Table:
    """Table for the terminal, with a row per data set and bin."""
    table = Table(title="Confidence", title_justify="left", pad_edge=False)
    for name in ("set", "answers", "confidence", "right", "ECE", "hits", "hits, no answer"):
        table.add_column(name, justify="left" if name == "set" else "right", no_wrap=True)
    for result in results:
        counts = [NO_COUNT if value is None else f"{value:.2f}" for value in (result.shown, result.shown_unanswerable)]
        total = sum(group.answers for group in result.bins)
        table.add_row(result.name, str(total), "", "", figure(result.ece), *counts)
        for group in result.bins:
            table.add_row("", str(group.answers), figure(group.confidence), figure(group.right), "", "", "")
    return table


def reliability_svg(results: Sequence[Reliability]) -> str:
    """Reliability diagrams side by side: one dot per bin, sized by its answers; the diagonal is perfect."""
    width, height = len(results) * (SIDE + EDGE) + EDGE, SIDE + TITLE + EDGE
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{INK}" role="img">'
    )
    parts = [
        opening,
        "<title>Confidence and share of right first hits</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for index, result in enumerate(results):
        parts += _diagram(result, EDGE + index * (SIDE + EDGE))
    return "\n".join([*parts, "</svg>", ""])


def _diagram(result: Reliability, left: int) -> list[str]:
    bottom, total = TITLE + SIDE, sum(group.answers for group in result.bins)
    lines = [
        f'<text x="{left}" y="{TITLE - 14}">{escape(result.name)} · ECE {figure(result.ece)}</text>',
        f'<rect x="{left}" y="{TITLE}" width="{SIDE}" height="{SIDE}" fill="none" stroke="{GRID}"/>',
        f'<line x1="{left}" y1="{bottom}" x2="{left + SIDE}" y2="{TITLE}" stroke="{GRID}"/>',
        f'<text x="{left}" y="{bottom + 18}">0</text>',
        f'<text x="{left + SIDE}" y="{bottom + 18}" text-anchor="end">confidence 1</text>',
    ]
    for group in result.bins:
        x, y = left + SIDE * group.confidence, bottom - SIDE * group.right
        radius = 3 + 20 * (group.answers / total) ** 0.5
        label = f"{group.answers} answers, confidence {figure(group.confidence)}, {figure(group.right)} right"
        lines.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{DOT}" fill-opacity="0.6">'
            f"<title>{label}</title></circle>"
        )
    return lines
