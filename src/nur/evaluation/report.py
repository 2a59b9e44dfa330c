"""Results of an evaluation: means, categories, halves, and differences with intervals."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nur.evaluation.changes import CHANGE_METRICS
from nur.evaluation.dates import DATE_METRICS
from nur.evaluation.measuring import BRIEF_RECALL, MIXED_METRICS, SPAN_METRICS, UNIT_METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.evaluation.dataset import DataSet, LabelledQuestion
    from nur.evaluation.measuring import Measured


class Difference(NamedTuple):
    """Mean of B minus mean of A, with a 95% interval. ``low > 0``: B is better; ``high < 0``: B is worse."""

    mean: float
    low: float
    high: float


def paired_bootstrap(
    a: Sequence[float],
    b: Sequence[float],
    groups: Sequence[str] | None = None,
    rounds: int = 2000,
    seed: int = 0,
) -> Difference:
    """Compare two systems on the same questions, in the same order.

    Questions about one conversation or document are not independent. With each question's conversation in ``groups``,
    whole groups are resampled, which gives a wider, more honest interval. With fewer than about 8 groups it is itself
    uncertain, so look at both intervals.
    """
    if not len(a) == len(b) or (groups is not None and len(groups) != len(a)) or not a:
        raise ValueError("needs the same questions from both systems")
    differences = [right - left for left, right in zip(a, b, strict=True)]
    names = groups if groups is not None else [str(i) for i in range(len(a))]
    totals: dict[str, tuple[float, int]] = {}
    for name, difference in zip(names, differences, strict=True):
        total, count = totals.get(name, (0.0, 0))
        totals[name] = (total + difference, count + 1)
    pool = list(totals.values())

    draw = random.Random(seed)  # noqa: S311 - a sample, not a secret
    means: list[float] = []
    for _ in range(rounds):
        sample = draw.choices(pool, k=len(pool))
        means.append(sum(total for total, _ in sample) / sum(count for _, count in sample))
    means.sort()
    return Difference(sum(differences) / len(differences), means[int(0.025 * rounds)], means[int(0.975 * rounds)])


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions of a measurement; never quote a figure without them."""

    embedding_version: str
    chunking: str
    mode: str
    max_chars: int
    limit: int  #: maximum number of hits


@dataclass(frozen=True, slots=True)
class Part:
    """A subset of a data set's questions: a category or a half."""

    name: str
    questions: tuple[LabelledQuestion, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Figures of one data set."""

    data: DataSet
    conditions: Conditions
    nur: Measured
    baselines: tuple[Measured, ...]
    load_seconds: float

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics for this kind of gold, in table order."""
        if self.data.has_spans:
            return SPAN_METRICS
        metrics = MIXED_METRICS if self.data.load_as == "mixed" else UNIT_METRICS
        scored = {name for scores in self.nur.scores.values() for name in scores}
        return metrics + tuple(name for name in (*DATE_METRICS, BRIEF_RECALL, *CHANGE_METRICS) if name in scored)

    @property
    def headline(self) -> str:
        """Metric that represents the data set in a plot."""
        return "span_recall@2000c" if self.data.has_spans else "recall@10"

    @property
    def systems(self) -> tuple[Measured, ...]:
        """Nur, then the baselines."""
        return (self.nur, *self.baselines)

    def scored(self, questions: Sequence[LabelledQuestion] | None = None) -> list[LabelledQuestion]:
        """The questions that have gold."""
        candidates = self.data.questions if questions is None else questions
        return [question for question in candidates if question.id in self.nur.scores]

    def difference(self, baseline: Measured, metric: str) -> Difference | None:
        """Nur minus a baseline on the same questions; None if no question has the metric for both."""
        shared = [question for question in self._with(metric) if metric in baseline.scores[question.id]]
        if not shared:
            return None
        of_baseline = [baseline.scores[question.id][metric] for question in shared]
        of_nur = [self.nur.scores[question.id][metric] for question in shared]
        return paired_bootstrap(of_baseline, of_nur, self._groups(shared))

    def interval(self, system: Measured, metric: str) -> Difference | None:
        """Mean of one system, with its interval."""
        scored = [question for question in self._with(metric) if metric in system.scores[question.id]]
        if not scored:
            return None
        values = [system.scores[question.id][metric] for question in scored]
        return paired_bootstrap([0.0] * len(values), values, self._groups(scored))

    def _with(self, metric: str) -> list[LabelledQuestion]:
        """Questions that have this metric; not every question of a mixed data set has spans."""
        return [question for question in self.scored() if metric in self.nur.scores[question.id]]

    def categories(self) -> list[Part]:
        """Questions by category, in data set order; empty if it has no categories."""
        names = dict.fromkeys(question.category for question in self.scored() if question.category)
        return [Part(name, tuple(one for one in self.scored() if one.category == name)) for name in names]

    def halves(self) -> list[Part]:
        """Two halves, to tune on one and confirm on the other: first and last scopes, or even and odd questions."""
        scopes = self.data.scopes
        if len(scopes) < 2:
            return [Part("even", tuple(self.data.questions[::2])), Part("odd", tuple(self.data.questions[1::2]))]
        first = set(scopes[: (len(scopes) + 1) // 2])
        return [
            Part(f"first {len(first)} scopes", tuple(one for one in self.data.questions if one.scope in first)),
            Part(
                f"last {len(scopes) - len(first)}", tuple(one for one in self.data.questions if one.scope not in first)
            ),
        ]

    def _groups(self, questions: Sequence[LabelledQuestion]) -> list[str] | None:
        """Each question's scope, for resampling whole conversations; None unless there are several."""
        scopes = [question.scope for question in questions]
        named = [scope for scope in scopes if scope is not None]
        return named if len(named) == len(scopes) and len(set(named)) > 1 else None
