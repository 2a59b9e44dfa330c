"""Whether confidence can be believed: whether 30 % are right of the answers that are 30 % sure."""

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
#: Hits that a tool shows unless it is asked for more.
USUAL_LIMIT = 5
#: What says whether the first hit is right, by the kind of gold.
FIRST_IS_RIGHT = ("hit@1", "passage_hit@1")
NO_COUNT = "–"
SIDE, EDGE, TITLE = 260, 48, 40  #: of a diagram, in pixels
INK, GRID, DOT = "#22303a", "#dde3e7", "#1f6f78"


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers that are about equally sure."""

    answers: int
    confidence: float  #: on average
    right: float  #: share of their first hits that answer


@dataclass(frozen=True, slots=True)
class Reliability:
    """How confidence and truth go together over some questions."""

    name: str
    bins: tuple[Bin, ...]  #: a tenth of the scale each, those without answers left out
    ece: float  #: expected calibration error: how far the two are apart on average
    shown: float | None  #: hits of an answerable question, at most five, on average
    shown_unanswerable: float | None  #: hits of a question that has no answer


def reliability(name: str, system: Measured, questions: Iterable[LabelledQuestion]) -> Reliability | None:
    """Of those questions that were asked; None where none was."""
    asked = [question for question in questions if question.id in system.confidence]
    if not asked:
        return None
    pairs = [(system.confidence[one.id], _is_right(system, one)) for one in asked]
    bins = tuple(_bins(pairs))
    return Reliability(
        name=name,
        bins=bins,
        ece=sum(one.answers * abs(one.confidence - one.right) for one in bins) / len(pairs),
        shown=_mean(system.shown[one.id] for one in asked if one.has_gold),
        shown_unanswerable=_mean(system.shown[one.id] for one in asked if not one.has_gold),
    )


def _is_right(system: Measured, question: LabelledQuestion) -> float:
    scores = system.scores.get(question.id, {})
    return next((scores[name] for name in FIRST_IS_RIGHT if name in scores), 0.0)


def _bins(pairs: Sequence[tuple[float, float]]) -> list[Bin]:
    found = []
    for place in range(BINS):
        inside = [pair for pair in pairs if min(int(pair[0] * BINS), BINS - 1) == place]
        if inside:
            sure, right = (sum(values) / len(inside) for values in zip(*inside, strict=True))
            found.append(Bin(len(inside), sure, right))
    return found


def _mean(counts: Iterable[int]) -> float | None:
    shown = [min(count, USUAL_LIMIT) for count in counts]
    return sum(shown) / len(shown) if shown else None


def all_reliabilities(reports: Sequence[Report], *, halves: bool) -> list[Reliability]:
    """Of each set, and of its halves if asked."""
    found = []
    for report in reports:
        parts = [(report.data.name, report.data.questions)]
        parts += [(f"{report.data.name}, {part.name}", part.questions) for part in report.halves()] if halves else []
        found += [reliability(name, report.nur, questions) for name, questions in parts]
    return [one for one in found if one is not None]


def reliability_table(found: Sequence[Reliability]) -> Table:
    """One row per set and bin, for the terminal."""
    table = Table(title="Confidence", title_justify="left", pad_edge=False)
    for name in ("set", "answers", "confidence", "right", "ECE", "hits", "hits, no answer"):
        table.add_column(name, justify="left" if name == "set" else "right", no_wrap=True)
    for one in found:
        counts = [NO_COUNT if value is None else f"{value:.2f}" for value in (one.shown, one.shown_unanswerable)]
        total = sum(each.answers for each in one.bins)
        table.add_row(one.name, str(total), "", "", figure(one.ece), *counts)
        for each in one.bins:
            table.add_row("", str(each.answers), figure(each.confidence), figure(each.right), "", "", "")
    return table


def reliability_svg(found: Sequence[Reliability]) -> str:
    """Reliability diagrams side by side: a dot per bin, its area the number of answers, the diagonal perfect."""
    width, height = len(found) * (SIDE + EDGE) + EDGE, SIDE + TITLE + EDGE
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{INK}" role="img">'
    )
    parts = [
        opening,
        "<title>Confidence and share of right first hits</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for place, one in enumerate(found):
        parts += _diagram(one, EDGE + place * (SIDE + EDGE))
    return "\n".join([*parts, "</svg>", ""])


def _diagram(one: Reliability, left: int) -> list[str]:
    bottom, total = TITLE + SIDE, sum(each.answers for each in one.bins)
    lines = [
        f'<text x="{left}" y="{TITLE - 14}">{escape(one.name)} · ECE {figure(one.ece)}</text>',
        f'<rect x="{left}" y="{TITLE}" width="{SIDE}" height="{SIDE}" fill="none" stroke="{GRID}"/>',
        f'<line x1="{left}" y1="{bottom}" x2="{left + SIDE}" y2="{TITLE}" stroke="{GRID}"/>',
        f'<text x="{left}" y="{bottom + 18}">0</text>',
        f'<text x="{left + SIDE}" y="{bottom + 18}" text-anchor="end">confidence 1</text>',
    ]
    for each in one.bins:
        x, y = left + SIDE * each.confidence, bottom - SIDE * each.right
        radius = 3 + 20 * (each.answers / total) ** 0.5
        told = f"{each.answers} answers, {figure(each.confidence)} sure, {figure(each.right)} right"
        lines.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{DOT}" fill-opacity="0.6">'
            f"<title>{told}</title></circle>"
        )
    return lines
