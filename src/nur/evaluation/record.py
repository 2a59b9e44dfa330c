"""Evaluations as JSON: every figure of the tables, and each question's scores, to compare two runs in pairs."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from nur.evaluation.measures import CUTOFFS
from nur.evaluation.reliability import all_reliabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.evaluation.measuring import Measured
    from nur.evaluation.report import Part, Report

DIGITS = 5


def record(reports: Sequence[Report]) -> dict[str, Any]:
    """All figures; questions appear with their ids, never with their texts."""
    return {
        "nur": version("nur-memory"),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cutoffs": list(CUTOFFS),
        "sets": [_set(report) for report in reports],
    }


def _set(report: Report) -> dict[str, Any]:
    conditions = report.conditions
    return {
        "name": report.data.name,
        "load_as": report.data.load_as,
        "rows": len(report.data.rows),
        "questions": len(report.data.questions),
        "load_seconds": round(report.load_seconds, 1),
        "conditions": {
            "embedding_version": conditions.embedding_version,
            "chunking": conditions.chunking,
            "mode": conditions.mode,
            "max_chars": conditions.max_chars,
            "limit": conditions.limit,
        },
        "reliability": [asdict(result) for result in all_reliabilities([report], halves=True)],
        "systems": {system.system: _system(report, system) for system in report.systems},
        "categories": [_part(report, part) for part in report.categories()],
        "halves": [_part(report, part) for part in report.halves()],
        "differences": {
            baseline.system: {metric: _difference(report, baseline, metric) for metric in report.metrics}
            for baseline in report.baselines
        },
    }


def _difference(report: Report, baseline: Measured, metric: str) -> dict[str, float] | None:
    difference = report.difference(baseline, metric)
    return None if difference is None else _rounded(difference._asdict())


def _system(report: Report, system: Measured) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "metrics": _rounded(system.mean(report.data.questions)),
        "abstention_auroc": _round(system.abstention(report.data)),
        "false_answers": _round(system.false_answers(report.data)),
        "off_topic_auroc": _round(system.off_topic()),
        "injected_off_topic": _round(system.injected_off_topic(report.data)),
        "scores": {question: _rounded(scores) for question, scores in system.scores.items()},
        "confidence": _rounded(system.confidence),
        "off_topic_confidence": _rounded(system.off_topic_confidence),
    }
    if any(system.seconds):
        milliseconds = [seconds * 1000 for seconds in system.seconds]
        figures["latency_ms"] = {"p50": round(median(milliseconds), 2), "p95": round(_p95(milliseconds), 2)}
        figures["cpu_ms"] = round(median(system.cpu_seconds) * 1000, 2)
    return figures


def _part(report: Report, part: Part) -> dict[str, Any]:
    means = {system.system: _rounded(system.mean(part.questions)) for system in report.systems}
    return {"name": part.name, "questions": len(report.scored(part.questions)), "metrics": means}


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, DIGITS) for name, value in figures.items()}


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
