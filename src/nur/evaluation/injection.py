"""Metrics of hooks that add passages to prompts: how often they do, how often rightly, and how often wrongly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.injection import PASSAGES, is_worth_showing, may_inject

if TYPE_CHECKING:
    from collections.abc import Collection

    from nur.evaluation.asking import Answer
    from nur.evaluation.dataset import LabelledQuestion
    from nur.evaluation.measures import Scores

INJECTED, INJECTED_GOLD = "injected", f"injected_gold@{PASSAGES}"


def injection_scores(question: LabelledQuestion, answer: Answer) -> Scores:
    """Whether a hook would add passages to this prompt; if so, whether one of its hits answers."""
    if not may_inject(question.text.strip()) or not is_worth_showing(answer.score):
        return {INJECTED: 0.0}
    return {INJECTED: 1.0, INJECTED_GOLD: float(any(row in question.units for row in answer.ids[:PASSAGES]))}


def injected_share(confidences: Collection[float]) -> float | None:
    """Share of prompts that passages would be added to; None without prompts."""
    return sum(map(is_worth_showing, confidences)) / len(confidences) if confidences else None
